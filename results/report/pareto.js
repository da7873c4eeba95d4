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

    function draw(u, ctx) {
        const ratio = devicePixelRatio, bottom = u.valToPos(0, "y", true);
        bars.forEach(([, time, verdict], i) => {
            const left = u.valToPos(i + 0.1, "x", true), top = u.valToPos(time / total, "y", true);
            ctx.fillStyle = colour(colourOf(verdict));
            ctx.fillRect(left, top, u.valToPos(i + 0.9, "x", true) - left, bottom - top);
        });
        ctx.strokeStyle = ctx.fillStyle = colour("--text");
        ctx.lineWidth = 1.5 * ratio;
        ctx.beginPath();
        ctx.moveTo(u.valToPos(0, "x", true), bottom);
        together.forEach((share, i) => ctx.lineTo(u.valToPos(i + 1, "x", true), u.valToPos(share, "y", true)));
        ctx.stroke();
    }

    function read(u, x) {
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
        x: {min: 0, max: bars.length, axis: {
            splits: (u, index, min, max) => {
                const step = Math.max(1, Math.ceil((max - min) / (u.bbox.width / devicePixelRatio / 40)));
                return bars.map((_, i) => i + 0.5).filter((at, i) => i % step === 0 && at >= min && at <= max);
            },
            values: (u, splits) => splits.map((at) => String(Math.ceil(at))), grid: {show: false},
            label: "operators, the longest running first", labelSize: 22}},
        y: {min: 0, /* a sum of all may be rounded to a little less than 1 */
            max: together.at(-1) > 0.9999 ? 1 : together.at(-1), axis: {size: 56,
            values: (u, splits) => splits.map((v) => `${Number((100 * v).toPrecision(3))} %`)}},
        zoomY: true, draw, read,
        legend: element("div", {class: "legend"}, verdicts.map((verdict) =>
            element("span", {}, swatch(colourOf(verdict)), verdict ?? "no verdict"))),
    });
    return [chart.figure, ...kinds.table(section)];
}
