// Makes the C source of the page that results/report.c fills: what stands before the data, what
// stands after it, and the hashes by which the page allows its own script and style alone.
//
//   node embed.mjs UPLOT_DIR SOURCE_DIR OUT.c FILE...    FILEs: *.css and *.js of SOURCE_DIR
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const [uplot, sources, out, ...files] = process.argv.slice(2);
const read = (folder, name) => readFileSync(join(folder, name), "utf8").trim();
const ours = (suffix) => files.filter((f) => f.endsWith(suffix)).map((f) => read(sources, f));
const hash = (text) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

const style = [read(uplot, "dist/uPlot.min.css"), ...ours(".css")].join("\n");
const script = [
    `/*! uPlot, whose licence follows:\n\n${read(uplot, "LICENSE")}\n*/`,
    // Its first line names its home; a page shall have no address that a network could be asked for.
    read(uplot, "dist/uPlot.iife.min.js").replace(/^\/\*! https:\/\//, "/*! "),
    `(() => {\n"use strict";\n${ours(".js").join("\n\n")}\n})();`,
].join("\n");
if (/<\/script|<!--/i.test(script) || /<\/style/i.test(style))
    throw new Error("a script or style that would end its own element");
if (/https?:\/\//i.test(script + style))
    throw new Error("an address in the script or style");

const policy = `default-src 'none'; script-src ${hash(script)}; style-src ${hash(style)}; ` +
    "base-uri 'none'; form-action 'none'";
const before = `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>autotune report</title>
<style>${style}</style>
</head>
<body>
<main id="report"></main>
<noscript><p>This page draws its tables and charts with a script of its own, and scripts are
switched off.</p></noscript>
<script type="application/json" id="data">`;
const after = `</script>\n<script>${script}</script>\n</body>\n</html>\n`;

const array = (name, text) => {
    const bytes = Buffer.from(text, "utf8");
    const lines = [];
    for (let i = 0; i < bytes.length; i += 24)
        lines.push([...bytes.subarray(i, i + 24)].join(",") + ",");
    return `const unsigned char ${name}[] = {\n${lines.join("\n")}\n};\n` +
        `const size_t ${name}_size = sizeof ${name};\n`;
};
writeFileSync(out, `/* Made by tools/report/embed.mjs. */\n#include "results/report_page.h"\n\n` +
    array("report_before", before) + array("report_after", after));
