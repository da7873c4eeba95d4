/* What is predicted of each kind: a bar with its interval, and a mark where it was measured. */
const MOST_SPANS = 15, NAME_LETTERS = 20;

function spans(section) {
    const all = section.rows.map(([name, , , measured, predicted, low, high]) =>
        ({name, measured, predicted, low, high})).filter(({predicted}) => predicted > 0);
    const shown = all.slice(0, MOST_SPANS).reverse();
    if (shown.length === 0)
        return kinds.table(section);
    const short = (name) => name.length <= NAME_LETTERS ? name /* names of fused kinds differ at their ends */
        : `${name.slice(0, NAME_LETTERS / 2 - 1)}…${name.slice(-NAME_LETTERS / 2)}`;
    const measured = shown.some((row) => row.measured > 0);

    function draw(chart, ctx) {
        const line = (x1, y1, x2, y2) => { ctx.moveTo(x1, y1); ctx.lineTo(x2, y2); };
        shown.forEach((row, i) => {
            const top = chart.y(i + 0.75), bottom = chart.y(i + 0.25), middle = chart.y(i + 0.5);
            const [low, high] = [chart.x(row.low), chart.x(row.high)];
            ctx.fillStyle = colour("--c0");
            ctx.fillRect(chart.x(0), top, chart.x(row.predicted) - chart.x(0), bottom - top);
            ctx.strokeStyle = colour("--text");
            ctx.lineWidth = 1.5;
            ctx.beginPath();
            line(low, middle, high, middle);
            for (const x of [low, high])
                line(x, middle - 4, x, middle + 4);
            ctx.stroke();
            if (!(row.measured > 0))
                return;
            ctx.strokeStyle = colour("--c1");
            ctx.lineWidth = 4;
            ctx.beginPath();
            line(chart.x(row.measured), chart.y(i + 0.9), chart.x(row.measured), chart.y(i + 0.1));
            ctx.stroke();
        });
    }

    function read(chart, x, y) {
        const row = shown[Math.floor(y)];
        return row ? `${row.name}: ${timeText(row.predicted)} predicted, ${timeText(row.low)} to ${timeText(row.high)}` +
            (row.measured > 0 ? `, ${timeText(row.measured)} measured` : "") : "";
    }

    const chart = new Chart({
        label: `${section.title}: time predicted of the ${shown.length} that take most, with its interval` +
            (measured ? ", beside the time measured" : ""),
        hint: "Point at a bar to read it; drag over some to look closer.",
        height: () => 60 + 28 * Math.max(shown.length, 5),
        x: {min: 0, max: 1.02 * Math.max(...shown.flatMap((row) => [row.high, row.measured ?? 0])), text: shortTimeText},
        y: {min: 0, max: shown.length, names: shown.map(({name}) => short(name)), room: 16, size: 160},
        zoomY: true, draw, read,
        legend: element("div", {class: "legend"}, element("span", {}, swatch("--c0"), "predicted"),
            element("span", {}, swatch("--text"), "its interval"),
            measured ? element("span", {}, swatch("--c1"), "measured") : null),
    });
    return [chart.figure, ...kinds.table(section)];
}
