/* The component roofline: a roof and a point for each pair of a unit that computes and an engine
 * that moves. Rates are in operations per ns, which is Gop/s; bandwidths in bytes per ns. */
/* Powers of ten, with 2 and 5 between them where there is room, or even steps of less than a decade. */
function logSplits(u, index, min, max) {
    const decades = Math.log10(max / min), splits = [];
    const room = (index === 0 ? u.bbox.width / 120 : u.bbox.height / 60) / devicePixelRatio / decades;
    if (decades < 0.7) {
        const step = 10 ** Math.floor(Math.log10((max - min) / 2));
        for (let i = Math.ceil(min / step); i * step <= max; i++)
            splits.push(i * step);
        return splits;
    }
    for (let power = Math.floor(Math.log10(min)); 10 ** power <= max; power++)
        for (const factor of room > 1 ? [1, 2, 5] : [1])
            splits.push(factor * 10 ** power);
    return splits.filter((v) => v >= min && v <= max);
}

function roofline(section) {
    const pairs = section.pairs.map((pair, i) => ({...pair, letter: String.fromCharCode(65 + i),
        colour: `--c${i % 8}`, ridge: pair.peak / pair.bandwidth}));
    const xs = pairs.flatMap((pair) => [pair.intensity, pair.ridge]);
    const ys = pairs.flatMap((pair) => [pair.rate, pair.peak]);
    const around = (values) => ({log: true, min: Math.min(...values) / 4, max: Math.max(...values) * 4});
    const roof = (pair, x) => Math.min(pair.peak, pair.bandwidth * x);
    const limit = (pair) => pair.intensity < pair.ridge ? pair.transfer : pair.compute;

    function draw(u, ctx) {
        const {min, max} = u.scales.x, ratio = devicePixelRatio;
        const at = (x, y) => [u.valToPos(x, "x", true), u.valToPos(y, "y", true)];
        ctx.font = `bold ${12 * ratio}px system-ui, sans-serif`;
        for (const [i, pair] of pairs.entries()) {
            ctx.strokeStyle = colour(pair.colour);
            ctx.lineWidth = (1.5 + 2 * (pairs.length - 1 - i)) * ratio; /* equal roofs lie on each other */
            ctx.beginPath();
            ctx.moveTo(...at(min, roof(pair, min)));
            if (pair.ridge > min && pair.ridge < max)
                ctx.lineTo(...at(pair.ridge, pair.peak));
            ctx.lineTo(...at(max, roof(pair, max)));
            ctx.stroke();
            ctx.lineWidth = 1.5 * ratio;
            ctx.setLineDash([3 * ratio, 3 * ratio]);
            ctx.beginPath();
            ctx.moveTo(...at(pair.intensity, pair.rate));
            ctx.lineTo(...at(pair.intensity, roof(pair, pair.intensity)));
            ctx.stroke();
            ctx.setLineDash([]);
        }
        const placed = [];
        for (const pair of pairs) {
            const [x, y] = at(pair.intensity, pair.rate);
            drawPoint(ctx, pair, x, y, ratio, placed);
        }
    }

    /* A letter in a disc: not told apart by colour alone. Where another one is, beside it. */
    function drawPoint(ctx, pair, x, y, ratio, placed) {
        while (placed.some(([left, top]) => Math.hypot(left - x, top - y) < 17 * ratio))
            x += 18 * ratio;
        placed.push([x, y]);
        ctx.fillStyle = colour(pair.colour);
        ctx.beginPath();
        ctx.arc(x, y, 9 * ratio, 0, 2 * Math.PI);
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

    function read(u, x, y) {
        const distance = (pair) => Math.hypot(u.valToPos(pair.intensity, "x") - u.valToPos(x, "x"),
            u.valToPos(pair.rate, "y") - u.valToPos(y, "y"));
        const nearest = pairs.reduce((best, pair) => distance(pair) < distance(best) ? pair : best);
        return describe(nearest);
    }

    const axis = {splits: logSplits, filter: (u, splits) => splits, values: (u, splits) => splits.map(number)};
    const chart = new Chart({
        label: `${section.title}. ${pairs.map(describe).join(". ")}`,
        hint: "Point at a letter to read it; drag to look closer.",
        height: (width) => Math.min(440, Math.max(280, width * 0.5)),
        x: {...around(xs), axis: {...axis, label: "operations a byte", labelSize: 22}},
        y: {...around(ys), axis: {...axis, label: "Gop/s of one core", labelSize: 22, size: 64}},
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
