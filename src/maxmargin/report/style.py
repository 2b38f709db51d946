"""The style of reports, and the short script that searches a table. It contains nothing from data."""

from __future__ import annotations

from base64 import b64encode
from hashlib import sha256

from maxmargin.report.html import Trusted

# The colours of figures/canvas.py, which colour-blind readers can distinguish; they are lighter in dark mode.
STYLE = Trusted(
    """
:root{color-scheme:light dark;--paper:#fff;--soft:#f5f6f8;--ink:#1b1d21;--faint:#5f6670;--line:#d9dce1;--a:#0072b2;
--b:#007f5c;--c:#b97800;--bad:#c24a00;--mark:#ffe3d3;--good:#dcf1e9}
@media (prefers-color-scheme:dark){:root{--paper:#15171b;--soft:#1e2126;--ink:#e7e9ec;--faint:#a2a9b3;--line:#363b43;
--a:#5ab4ea;--b:#3fc79b;--c:#f0b545;--bad:#ff9365;--mark:#4d2a1a;--good:#173a2f}}
*{box-sizing:border-box}
html{background:var(--paper);color:var(--ink);font:16px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif;
-webkit-text-size-adjust:100%;text-size-adjust:100%}
body{margin:0 auto;max-width:76rem;padding:1rem}
section{break-inside:avoid}
@media screen and (min-width:64rem){main{columns:2;column-gap:3rem}section.wide{column-span:all}}
h1{font-size:1.6rem;line-height:1.25;margin:.5rem 0;overflow-wrap:anywhere}
section{padding-bottom:1.5rem}
h2{font-size:1.2rem;margin:0 0 .5rem;padding-top:.75rem;border-top:1px solid var(--line)}
h3{font-size:1rem;margin:1.25rem 0 .25rem}
h4{font-size:.95rem;margin:.6rem 0 0}
p{margin:.4rem 0;overflow-wrap:anywhere;max-width:48rem}
a{color:var(--a)}
nav ul{display:flex;flex-wrap:wrap;gap:.25rem 1rem;list-style:none;margin:1rem 0;padding:0;font-size:.9rem}
.lead{font-size:1.1rem}
.notice{padding:.6rem .9rem;background:var(--mark);border-left:4px solid var(--bad);border-radius:.3rem}
.note,.keys,figcaption,footer{color:var(--faint);font-size:.875rem}
.scroll{overflow-x:auto;max-width:100%;margin:.5rem 0;-webkit-overflow-scrolling:touch}
table{border-collapse:collapse;font-size:.875rem}
th,td{padding:.25rem .6rem;text-align:left;border-bottom:1px solid var(--line);vertical-align:top;min-width:2.5rem;
overflow-wrap:break-word;max-width:36rem}
th{font-weight:600}
thead th{border-bottom-color:var(--faint);vertical-align:bottom}
.number,.matrix td{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
.matrix th,.matrix td{padding:.2rem .4rem;min-width:0;white-space:nowrap}
.matrix tbody th{position:sticky;left:0;background:var(--paper)}
.heat{background-image:linear-gradient(color-mix(in srgb,var(--a) calc(max(0,var(--shade,0))*55%),transparent) 0 0),
linear-gradient(color-mix(in srgb,var(--c) calc(max(0,-1*var(--shade,0))*55%),transparent) 0 0)}
dl.facts{display:grid;grid-template-columns:minmax(7rem,auto) 1fr;gap:.2rem 1rem;margin:.5rem 0}
dl.facts dt{color:var(--faint)}
dl.facts dd{margin:0;overflow-wrap:anywhere}
.charted{max-width:29rem}
.keyed{white-space:nowrap}
.charted.square{max-width:24rem}
.searchable .scroll{max-height:26rem;overflow:auto}
svg.chart{width:100%;height:auto;display:block}
svg text{fill:var(--ink);font-size:12px}
svg.free{display:block}
svg.free text{font-size:14px}
svg .axis{fill:var(--faint)}
.grid{stroke:var(--line);stroke-width:1}
.tick{stroke:var(--faint);stroke-width:1}
.interval{stroke:var(--a);stroke-width:3;opacity:.5}
.line-a,.line-b,.line-c,.line-faint,.line-bad{fill:none;stroke-width:2;stroke:var(--a)}
.line-b{stroke:var(--b)}.line-c{stroke:var(--c)}.line-faint{stroke:var(--faint);stroke-width:1}.line-bad{stroke:var(--bad)}
.missed{stroke-dasharray:5 4}
.thin{stroke-width:1}
.point-a,.key-a{fill:var(--a);background:var(--a)}.point-b,.key-b{fill:var(--b);background:var(--b)}
.point-c,.key-c{fill:var(--c);background:var(--c)}.point-faint,.key-faint{fill:var(--faint);background:var(--faint)}
.point-bad,.key-bad{fill:var(--bad);background:var(--bad)}
.band-faint{fill:var(--faint);opacity:.15;stroke:none}
.key{display:inline-block;width:.8rem;height:.8rem;border-radius:.2rem;margin:0 .35rem 0 .6rem;vertical-align:-.05rem}
.bar{vertical-align:middle}
main .figures{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,30rem),1fr));gap:1rem;
align-items:start}
figure{margin:0;min-width:0;padding:.75rem;background:var(--soft);border-radius:.5rem;overflow-wrap:anywhere}
figcaption{margin-bottom:.4rem}
.tokens{line-height:2.6}
.token{display:inline-block;margin:0 .3rem .2rem 0;padding:0 .15rem;vertical-align:top;line-height:1.25}
.token small{display:block;font-size:.72rem;color:var(--faint)}
.span{border-bottom:3px solid var(--a)}
.wrong{background:var(--mark);border-radius:.2rem}
.token .was{color:var(--bad);font-weight:600}
.right{background:var(--good);border-radius:.2rem}
.chips{display:flex;flex-wrap:wrap;gap:.3rem;margin:.3rem 0}
.chip{border:1px solid var(--line);border-radius:.4rem;padding:.05rem .45rem;font-size:.875rem;background:var(--paper);
max-width:100%}
.chip.wrong{border-color:var(--bad);background:var(--mark)}
.chip.right{border-color:var(--b)}
.chip.missed{border-style:dashed;border-color:var(--bad)}
.group{border:1px solid var(--line);border-radius:.5rem;padding:.3rem;display:flex;flex-wrap:wrap;gap:.3rem}
pre,code{font-family:ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;font-size:.82rem}
pre{margin:.4rem 0;overflow-x:auto;line-height:1.35}
pre.wrapped{white-space:pre-wrap;overflow-wrap:anywhere}
mark{background:var(--mark);color:inherit}
svg text.letter{font-size:24px;fill:var(--kind)}
svg text.wrong-text{fill:var(--bad);font-weight:600}
.bad{color:var(--bad);font-weight:600}
.good{color:var(--b)}
ol.ranking{margin:.4rem 0;padding-left:2rem}
input[type=search]{width:100%;max-width:24rem;padding:.4rem .6rem;font:inherit;color:inherit;background:var(--paper);
border:1px solid var(--faint);border-radius:.4rem}
[hidden]{display:none!important}
.two{display:flex;flex-wrap:wrap;gap:0 2rem}
.two>*{flex:1 1 18rem;min-width:0}
figure .two{gap:0 1rem}
figure .two>*{flex-basis:13rem}
.label0{--kind:var(--a)}.label1{--kind:var(--c)}.label2{--kind:var(--b)}.label3{--kind:#cc79a7}.label4{--kind:#8a7fd6}
.label5{--kind:#7a8b2a}.label6{--kind:#b0584f}.label7{--kind:#4b8f9b}
.fill{fill:var(--kind,var(--faint))}
.key.fill{background:var(--kind,var(--faint))}
.cross{stroke:var(--bad);stroke-width:2;fill:none}
@media print{:root{--paper:#fff;--soft:#fff;--ink:#000;--faint:#444;--line:#bbb;--a:#0072b2;--b:#007f5c;--c:#b97800;
--bad:#c24a00;--mark:#ffe3d3;--good:#dcf1e9}html{font-size:11pt}body{max-width:none;padding:0}nav,input{display:none}
section{break-inside:auto}main .figures{display:block}figure{margin:1rem 0}
figure,table,svg{break-inside:avoid}.searchable table{break-inside:auto}figure{border:1px solid var(--line)}
h2{break-after:avoid}.scroll,pre,.searchable .scroll{overflow:visible;max-height:none}
*{-webkit-print-color-adjust:exact;print-color-adjust:exact}
.searchable.long tbody tr:nth-child(n+61){display:none}
.searchable.long::after{content:"The first 60 rows are printed."}
details::details-content{content-visibility:visible;display:block}}
"""
)
SCRIPT = Trusted(
    """
for (const part of document.querySelectorAll(".searchable")) {
  const box = part.querySelector("input"), rows = [...part.querySelectorAll("tbody tr")];
  const texts = rows.map(row => row.textContent.toLowerCase());
  box.hidden = false;
  box.addEventListener("input", () => {
    const words = box.value.toLowerCase().split(/\\s+/);
    rows.forEach((row, k) => { row.hidden = !words.every(word => texts[k].includes(word)); });
  });
}
"""
)
# Whatever a page contains, it loads nothing and runs only this script.
POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; "
    f"script-src 'sha256-{b64encode(sha256(SCRIPT.encode()).digest()).decode()}'; base-uri 'none'; form-action 'none'"
)
