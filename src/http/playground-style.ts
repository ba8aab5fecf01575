// What the playground looks like beyond what all pages share: two columns, narrow screens one; colours that hold their contrast in both themes.
export const PLAYGROUND_STYLE = `
:root{--on-accent:#fff;--heard:#bfe3ea;--s0:#0b5c6b;--s1:#8a4b00;--s2:#6b3fa0;--s3:#2f6b1f;--s4:#9c2230;--s5:#1f4fa3}
@media(prefers-color-scheme:dark){:root{--on-accent:#10181a;--heard:#1f5a66;--s0:#6cc5d4;--s1:#e8b062;--s2:#c3a4f0;--s3:#9bd18a;--s4:#f08c97;--s5:#93b8f7}}
main{overflow-wrap:break-word;max-width:78rem;margin:0 auto;padding:2rem 1.25rem 4rem}
header p{margin:0 0 .5rem}
a{color:var(--accent)}
:focus-visible{outline:3px solid var(--accent);outline-offset:2px;border-radius:.3em}
[hidden]{display:none!important}
.columns{display:grid;grid-template-columns:minmax(0,25rem) minmax(0,1fr);gap:1rem;align-items:start;margin-top:1rem}
h2{font-size:1.1rem}h3{margin:0;font-size:.95rem}
.soft,small,.facts,caption{color:var(--soft);font-size:.875rem}
.bad{color:var(--bad)}.good{font-weight:600}
label,legend{font-weight:500}
input:not([type=checkbox]),select,textarea{width:100%;min-width:0;min-height:2.4rem;padding:.35rem .6rem;font:inherit;color:inherit;background:var(--paper);border:1px solid var(--soft);border-radius:.4rem}
input[type=checkbox]{width:1.15rem;height:1.15rem;margin:.2rem .35rem .2rem 0;vertical-align:-.2rem;accent-color:var(--accent)}
input[type=file]{position:absolute;inset:0;opacity:0;cursor:pointer}
button,.button{position:relative;display:inline-block;min-height:2.4rem;padding:.35rem .9rem;font:inherit;font-weight:500;line-height:1.6;color:var(--ink);background:var(--card);border:1px solid var(--soft);border-radius:.4rem;cursor:pointer;white-space:nowrap}
button:hover,.button:hover{border-color:var(--accent);color:var(--accent)}
.button:focus-within{outline:3px solid var(--accent);outline-offset:2px}
button:disabled{opacity:.55;cursor:default}
.primary,.primary:hover{color:var(--on-accent);background:var(--accent);border-color:var(--accent);font-weight:600}
.row{display:flex;gap:.5rem;align-items:center;margin-top:.4rem}
.row input{flex:1}.wrap{flex-wrap:wrap}
#drop.over{border-color:var(--accent);box-shadow:0 0 0 3px color-mix(in srgb,var(--accent) 22%,transparent)}
.field,.check{margin-top:.8rem}.field small,.check small{display:block;line-height:1.4}
.check small{padding-left:1.5rem}
fieldset.field{margin-inline:0;padding:0;border:0}fieldset label{margin-right:.8rem;font-weight:400}
details{margin-top:.9rem}summary{cursor:pointer;font-weight:500;color:var(--accent)}
.run{position:sticky;bottom:.5rem;display:flex;flex-wrap:wrap;gap:.5rem;align-items:center;padding:.8rem 1.25rem;background:var(--card);border:1px solid var(--line);border-radius:.6rem;box-shadow:0 -.2rem 1rem color-mix(in srgb,var(--ink) 8%,transparent)}
.run p{flex-basis:100%;margin:0}.run p:empty{display:none}
.listen{position:sticky;top:.5rem;z-index:1;padding:.8rem 1.25rem;box-shadow:0 .3rem 1rem color-mix(in srgb,var(--ink) 8%,transparent)}
audio{display:block;width:100%;height:2.75rem}
#result-title{scroll-margin-top:10rem}#result-title:focus{outline:none}
.ribbon{margin:-1.1rem -1.25rem 1rem!important;padding:.45rem 1.25rem;border-radius:.55rem .55rem 0 0;color:var(--warn);font-weight:600;background:repeating-linear-gradient(135deg,color-mix(in srgb,var(--warn) 14%,var(--card)) 0 .7rem,color-mix(in srgb,var(--warn) 9%,var(--card)) .7rem 1.4rem);border-bottom:1px solid color-mix(in srgb,var(--warn) 45%,transparent)}
.warning,.notice{padding:.4rem .7rem;font-size:.9rem;background:color-mix(in srgb,var(--warn) 9%,transparent);border-left:3px solid var(--warn);border-radius:.2rem}
.failure{border-color:var(--bad);border-left-width:5px}.failure h2{color:var(--bad)}
.facts{display:flex;flex-wrap:wrap;gap:.2rem 1rem;align-items:center}
.facts button{min-height:1.75rem;padding:0 .5rem;font-size:.85rem}
.transcript{margin:1rem 0;font-size:1.06rem;line-height:1.75}
.speaker{display:flex;gap:.4rem;align-items:center;padding-left:.6rem;border-left:4px solid;white-space:nowrap}
.speaker input{width:9rem}
.turn{margin:.6rem 0 0!important;padding:.1rem 0 .1rem .8rem;border-left:4px solid var(--line)}
.head{display:block;font-size:.85rem;color:var(--soft)}.who{color:var(--ink)}
.s0{border-color:var(--s0)}.s1{border-color:var(--s1)}.s2{border-color:var(--s2)}.s3{border-color:var(--s3)}.s4{border-color:var(--s4)}.s5{border-color:var(--s5)}
.s0 .who{color:var(--s0)}.s1 .who{color:var(--s1)}.s2 .who{color:var(--s2)}.s3 .who{color:var(--s3)}.s4 .who{color:var(--s4)}.s5 .who{color:var(--s5)}
.word{padding:.12em 0;border-radius:.2em;cursor:pointer;scroll-margin:10rem 0 4rem}
.word:hover{background:color-mix(in srgb,var(--accent) 14%,transparent)}
.word[aria-current]{background:var(--heard);box-shadow:0 0 0 .12em var(--heard)}
.low{text-decoration:underline wavy var(--bad) 1px;text-underline-offset:.25em}
.plain{white-space:pre-wrap}
.tools{margin-top:1rem;padding-top:.8rem;border-top:1px solid var(--line)}
.scroll{overflow-x:auto;margin-top:.8rem}
table{width:100%;border-collapse:collapse;font-size:.9rem}
caption{text-align:left;padding-bottom:.2rem}
th,td{padding:.35rem .9rem .35rem 0;text-align:left;vertical-align:top;border-bottom:1px solid var(--line)}
th{font-weight:600}td .time{min-width:8rem;font-variant-numeric:tabular-nums}
.track{display:block;margin:.15rem 0;background:color-mix(in srgb,var(--ink) 12%,transparent);border-radius:.2rem}
.bar{display:block;height:.4rem;min-width:2px;background:var(--accent);border-radius:.2rem}.bar.failed{background:var(--bad)}
#code>div{margin-top:.9rem}#code .row{justify-content:space-between}
pre{overflow-wrap:anywhere;font-size:.9rem}
dialog{max-width:28rem;color:inherit;background:var(--card);border:1px solid var(--soft);border-radius:.6rem}
dialog::backdrop{background:#0008}
dl{display:grid;grid-template-columns:auto 1fr;gap:.4rem 1rem}dd{margin:0}
kbd{padding:.1em .45em;font:.85em ui-monospace,Menlo,monospace;border:1px solid var(--soft);border-radius:.3em}
.hidden{position:fixed;left:-100vw}
@media(max-width:56rem){.columns{grid-template-columns:minmax(0,1fr)}.listen{top:0}main{padding:1.25rem .75rem 3rem}section{padding:1rem}h1{font-size:1.9rem}.ribbon{margin:-1rem -1rem 1rem!important;padding-inline:1rem}}
@media(prefers-reduced-motion:no-preference){button,.word{transition:background .1s,border-color .1s}}
`;
