// Shared styles of forms, tables and error messages, with sufficient contrast in the light and the dark theme.
export const CONTROLS = `
:root{--on-accent:#fff}
@media(prefers-color-scheme:dark){:root{--on-accent:#10181a}}
a{color:var(--accent)}
:focus-visible{outline:3px solid var(--accent);outline-offset:2px;border-radius:.3em}
[hidden]{display:none!important}
h2{font-size:1.1rem}h3{margin:0;font-size:.95rem}
.soft,small,.facts,caption{color:var(--soft);font-size:.875rem}
.bad{color:var(--bad)}.good{font-weight:600}
label,legend{font-weight:500}
input:not([type=checkbox]),select,textarea{width:100%;min-width:0;min-height:2.4rem;padding:.35rem .6rem;font:inherit;color:inherit;background:var(--paper);border:1px solid var(--soft);border-radius:.4rem}
input[type=checkbox]{width:1.15rem;height:1.15rem;margin:.2rem .35rem .2rem 0;vertical-align:-.2rem;accent-color:var(--accent)}
button,.button{position:relative;display:inline-block;min-height:2.4rem;padding:.35rem .9rem;font:inherit;font-weight:500;line-height:1.6;color:var(--ink);background:var(--card);border:1px solid var(--soft);border-radius:.4rem;cursor:pointer;white-space:nowrap}
button:hover,.button:hover{border-color:var(--accent);color:var(--accent)}
.button:focus-within{outline:3px solid var(--accent);outline-offset:2px}
button:disabled,button[aria-disabled=true]{opacity:.55;cursor:default}
.primary,.primary:hover{color:var(--on-accent);background:var(--accent);border-color:var(--accent);font-weight:600}
.row{display:flex;gap:.5rem;align-items:center;margin-top:.4rem}
.row input{flex:1}.wrap{flex-wrap:wrap}
.field,.check{margin-top:.8rem}.field small,.check small{display:block;line-height:1.4}
details{margin-top:.9rem}summary{cursor:pointer;font-weight:500;color:var(--accent)}
.warning,.notice{padding:.4rem .7rem;font-size:.9rem;background:color-mix(in srgb,var(--warn) 9%,transparent);border-left:3px solid var(--warn);border-radius:.2rem}
.failure{border-color:var(--bad);border-left-width:5px}.failure h2{color:var(--bad)}
.facts{display:flex;flex-wrap:wrap;gap:.2rem 1rem;align-items:center}
.facts button{min-height:1.75rem;padding:0 .5rem;font-size:.85rem}
.scroll{overflow-x:auto;margin-top:.8rem}
table{width:100%;border-collapse:collapse;font-size:.9rem}
caption{text-align:left;padding-bottom:.2rem}
th,td{padding:.35rem .9rem .35rem 0;text-align:left;vertical-align:top;border-bottom:1px solid var(--line)}
th{font-weight:600}td .time{min-width:8rem;font-variant-numeric:tabular-nums}
.track{display:block;margin:.15rem 0;background:color-mix(in srgb,var(--ink) 12%,transparent);border-radius:.2rem}
.bar{display:block;height:.4rem;min-width:2px;background:var(--accent);border-radius:.2rem}.bar.failed{background:var(--bad)}
pre{overflow-wrap:anywhere;font-size:.9rem}
dialog{max-width:28rem;color:inherit;background:var(--card);border:1px solid var(--soft);border-radius:.6rem}
dialog::backdrop{background:#0008}
dl{display:grid;grid-template-columns:auto 1fr;gap:.4rem 1rem}dd{margin:0}
kbd{padding:.1em .45em;font:.85em ui-monospace,Menlo,monospace;border:1px solid var(--soft);border-radius:.3em}
.hidden{position:fixed;left:-100vw}
fieldset.field{margin-inline:0;padding:0;border:0}fieldset label{margin-right:.8rem;font-weight:400}
`;
