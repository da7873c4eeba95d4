/* The chips of a sweep: time against the bytes of their buffers, with the Pareto front. */
function chips(section) {
    const points = section.points.filter((point) => point.jobs > 0 && point.bytes > 0);
    const table = tableOf([{name: "chip"}, {name: "cores"}, {name: "buffers, KiB", unit: "count"},
        {name: "time of all jobs", unit: "ns"}, {name: "jobs", unit: "count"}, {name: "all jobs"},
        {name: "Pareto front"}],
    section.points.map((point) => [point.name, point.cores, Math.round(point.bytes / 1024), point.jobs > 0
        ? point.time_ns : null, point.jobs, point.complete, point.best]), `${section.title} as a table`);
    if (points.length === 0)
        return [table];
    const around = (values) => ({log: true, min: Math.min(...values) / 1.5, max: Math.max(...values) * 1.5});
    const front = points.filter((point) => point.best).sort((a, b) => a.bytes - b.bytes);
    const describe = (point) => `${point.name}: ${timeText(point.time_ns)} with ` +
        `${countText(Math.round(point.bytes / 1024))} KiB, ${point.cores} cores` +
        (point.complete ? "" : ", not all jobs");

    const at = (chart, point) => [chart.x(point.bytes / 1024), chart.y(point.time_ns)];

    function draw(chart, ctx) {
        ctx.strokeStyle = colour("--c0");
        ctx.lineWidth = 1.5;
        ctx.beginPath();
        front.forEach((point) => ctx.lineTo(...at(chart, point)));
        ctx.stroke();
        for (const point of points) {
            ctx.beginPath();
            ctx.arc(...at(chart, point), 6, 0, 2 * Math.PI);
            ctx.fillStyle = colour(point.best ? "--c0" : "--faint");
            ctx.strokeStyle = ctx.fillStyle;
            if (point.complete)
                ctx.fill();
            else
                ctx.stroke();
        }
    }

    const read = (chart, x, y) => describe(nearest(points, (point) => at(chart, point), chart.x(x), chart.y(y)));

    const chart = new Chart({
        label: `${section.title}. On the front: ${front.map(describe).join(". ")}`,
        hint: "Point at a chip to read it; drag to look closer.",
        height: (width) => Math.min(400, Math.max(260, width * 0.45)),
        x: {...around(points.map((point) => point.bytes / 1024)), text: countText, label: "KiB of buffers"},
        y: {...around(points.map((point) => point.time_ns)), text: shortTimeText, size: 72},
        zoomY: true, draw, read,
    });
    return [chart.figure, table];
}
