/* The component roofline: a roof and a point for each pair of a unit that computes and an engine
 * that moves. Rates are in operations per ns, which is Gop/s; bandwidths in bytes per ns. */
function roofline(section) {
    const pairs = section.pairs.map((pair, i) => ({...pair, letter: String.fromCharCode(65 + i),
        colour: `--c${i % 8}`, ridge: pair.peak / pair.bandwidth}));
    const xs = pairs.flatMap((pair) => [pair.intensity, pair.ridge]);
    const ys = pairs.flatMap((pair) => [pair.rate, pair.peak]);
    const around = (values) => ({log: true, min: Math.min(...values) / 4, max: Math.max(...values) * 4});
    const roof = (pair, x) => Math.min(pair.peak, pair.bandwidth * x);
    const limit = (pair) => pair.intensity < pair.ridge ? pair.transfer : pair.compute;

    function draw(chart, ctx) {
        const {min, max} = chart.shown("x"), at = (x, y) => [chart.x(x), chart.y(y)];
        ctx.font = `bold ${FONT}`;
        for (const [i, pair] of pairs.entries()) {
            ctx.strokeStyle = colour(pair.colour);
            ctx.lineWidth = 1.5 + 2 * (pairs.length - 1 - i); /* equal roofs lie on each other */
            ctx.beginPath();
            ctx.moveTo(...at(min, roof(pair, min)));
            if (pair.ridge > min && pair.ridge < max)
                ctx.lineTo(...at(pair.ridge, pair.peak));
            ctx.lineTo(...at(max, roof(pair, max)));
            ctx.stroke();
            ctx.lineWidth = 1.5;
            ctx.setLineDash([3, 3]);
            ctx.beginPath();
            ctx.moveTo(...at(pair.intensity, pair.rate));
            ctx.lineTo(...at(pair.intensity, roof(pair, pair.intensity)));
            ctx.stroke();
            ctx.setLineDash([]);
        }
        const placed = [];
        for (const pair of pairs) {
            const [x, y] = at(pair.intensity, pair.rate);
            drawPoint(ctx, pair, x, y, placed);
        }
    }

    /* A letter in a disc: not told apart by colour alone. Where another one is, beside it. */
    function drawPoint(ctx, pair, x, y, placed) {
        while (placed.some(([left, top]) => Math.hypot(left - x, top - y) < 17))
            x += 18;
        placed.push([x, y]);
        ctx.fillStyle = colour(pair.colour);
        ctx.beginPath();
        ctx.arc(x, y, 9, 0, 2 * Math.PI);
        ctx.fill();
        ctx.fillStyle = colour("--ground");
        ctx.textAlign = "center";
        ctx.textBaseline = "middle";
        ctx.fillText(pair.letter, x, y);
    }

    const share = (pair) => pair.rate / roof(pair, pair.intensity);
    const number = (value) => String(Number(value.toPrecision(4)));
    const describe = (pair) => `${pair.letter}, ${pair.compute} and ${pair.transfer}: ` +
        `${number(pair.intensity)} operations a byte, ${number(pair.rate)} Gop/s, ` +
        `${percentText(share(pair))} of what ${limit(pair)} allows`;

    const read = (chart, x, y) => describe(nearest(pairs,
        (pair) => [chart.x(pair.intensity), chart.y(pair.rate)], chart.x(x), chart.y(y)));

    const chart = new Chart({
        label: `${section.title}. ${pairs.map(describe).join(". ")}`,
        hint: "Point at a letter to read it; drag to look closer.",
        height: (width) => Math.min(440, Math.max(280, width * 0.5)),
        x: {...around(xs), text: number, label: "operations a byte"},
        y: {...around(ys), text: number, label: "Gop/s of one core", size: 64},
        zoomY: true, draw, read,
        legend: element("div", {class: "legend"}, pairs.map((pair) => element("span", {},
            swatch(pair.colour), `${pair.letter} ${pair.compute} · ${pair.transfer}`))),
    });
    const table = tableOf(
        [{name: "pair"}, {name: "computes"}, {name: "moves"}, {name: "operations a byte"}, {name: "Gop/s"},
            {name: "peak, Gop/s"}, {name: "bandwidth, GB/s"}, {name: "of the peak", unit: "share"},
            {name: "of the bandwidth", unit: "share"}, {name: "roof is of"}],
        pairs.map((pair) => [pair.letter, pair.compute, pair.transfer, pair.intensity, pair.rate, pair.peak,
            pair.bandwidth, pair.compute_share, pair.transfer_share, limit(pair)]),
        `${section.title} as a table`);
    return [chart.figure, folded("The same as a table", table)];
}
