/* Times by a size that grows: a line for each curve, with its points where there is room. */
function curves(section) {
    const lines = section.curves.map(({name, points}, i) => ({name, points:
        points.map(({x, ns, empty_ns}) => ({x, ns: ns - empty_ns, name})), colour: `--c${i % 8}`}));
    const points = lines.flatMap((line) => line.points), xs = points.map(({x}) => x);
    if (points.length === 0)
        return [];
    const {log} = section, low = Math.min(...xs), high = Math.max(...xs);
    const most = Math.max(...points.map(({ns}) => ns)), at = (chart, {x, ns}) => [chart.x(x), chart.y(ns)];

    function draw(chart, ctx) {
        for (const [i, line] of lines.entries()) {
            ctx.strokeStyle = ctx.fillStyle = colour(line.colour);
            ctx.lineWidth = 1.5 + 1.5 * (lines.length - 1 - i); /* equal curves lie on each other */
            ctx.beginPath();
            line.points.forEach((point) => ctx.lineTo(...at(chart, point)));
            ctx.stroke();
            for (const point of line.points) {
                ctx.beginPath();
                ctx.arc(...at(chart, point), 2.5, 0, 2 * Math.PI);
                ctx.fill();
            }
        }
    }

    const read = (chart, x, y) => {
        const point = nearest(points, (each) => at(chart, each), chart.x(x), chart.y(y));
        return `${point.name}, ${countText(point.x)} ${section.x}: ${timeText(point.ns)}`;
    };

    const chart = new Chart({
        label: `${section.title}: time by ${section.x}, of ${lines.map(({name}) => name).join(", ")}`,
        hint: "Point at a curve to read it; drag to look closer.",
        height: (width) => Math.min(400, Math.max(260, width * 0.45)),
        x: {min: log ? low / 1.2 : 0, max: log ? high * 1.2 : high * 1.02, log, text: countText, label: section.x},
        y: {min: 0, max: most > 0 ? 1.05 * most : 1, text: shortTimeText, size: 72},
        zoomY: true, draw, read,
        legend: element("div", {class: "legend"}, lines.map((line) =>
            element("span", {}, swatch(line.colour), line.name))),
    });
    const sizes = [...new Set(xs)].sort((a, b) => a - b);
    const table = tableOf([{name: section.x, unit: "count"}, ...lines.map(({name}) => ({name, unit: "ns"}))],
        sizes.map((x) => [x, ...lines.map((line) => line.points.find((point) => point.x === x)?.ns ?? null)]),
        `${section.title} as a table`);
    return [chart.figure, folded("The same as a table", table)];
}
