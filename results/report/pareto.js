/* Bars by time, coloured by verdict, and the share that those so far make together. */
function pareto(section) {
    const bars = section.bars.filter(([, time]) => time > 0), total = section.total_ns;
    if (bars.length === 0 || !(total > 0))
        return kinds.table(section);
    const all = ["Compute Bound", "MTE Bound", "Insufficient Parallelism", "Inefficient MTE", "Inefficient Compute"];
    const verdicts = [...all, null].filter((verdict) => bars.some((bar) => bar[2] === verdict));
    const colourOf = (verdict) => verdict === null ? "--none" : `--c${all.indexOf(verdict)}`;
    let sum = 0;
    const together = bars.map(([, time]) => sum += time / total);

    function draw(chart, ctx) {
        const bottom = chart.y(0);
        bars.forEach(([, time, verdict], i) => {
            const left = chart.x(i + 0.1), top = chart.y(time / total);
            ctx.fillStyle = colour(colourOf(verdict));
            ctx.fillRect(left, top, chart.x(i + 0.9) - left, bottom - top);
        });
        ctx.strokeStyle = ctx.fillStyle = colour("--text");
        ctx.lineWidth = 1.5;
        ctx.beginPath();
        ctx.moveTo(chart.x(0), bottom);
        together.forEach((share, i) => ctx.lineTo(chart.x(i + 1), chart.y(share)));
        ctx.stroke();
    }

    function read(chart, x) {
        const i = Math.floor(x);
        if (!bars[i])
            return "";
        const [name, time, verdict] = bars[i];
        return `${i + 1}. ${name}: ${timeText(time)}, ${percentText(time / total)}, ${verdict ?? "no verdict"}; ` +
            `${percentText(together[i])} with those before`;
    }

    const chart = new Chart({
        label: `${section.title}: ${bars.length} operators, ${percentText(together.at(-1))} of the time`,
        hint: "Point at a bar to read it; drag over some to look closer.",
        height: (width) => Math.min(360, Math.max(240, width * 0.4)),
        x: {min: 0, max: bars.length, names: bars.map((_, i) => i + 1), room: 40,
            label: "operators, the longest running first"},
        y: {min: 0, /* a sum of all may be rounded to a little less than 1 */
            max: together.at(-1) > 0.9999 ? 1 : together.at(-1), size: 56,
            text: (share) => `${Number((100 * share).toPrecision(3))} %`},
        zoomY: true, draw, read,
        legend: element("div", {class: "legend"}, verdicts.map((verdict) =>
            element("span", {}, swatch(colourOf(verdict)), verdict ?? "no verdict"))),
    });
    return [chart.figure, ...kinds.table(section)];
}
