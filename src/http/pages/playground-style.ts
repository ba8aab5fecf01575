// The playground's own styles in addition to forms and tables: two columns, or one on narrow screens.
export const PLAYGROUND_STYLE = `
:root{--heard:#bfe3ea;--s0:#0b5c6b;--s1:#8a4b00;--s2:#6b3fa0;--s3:#2f6b1f;--s4:#9c2230;--s5:#1f4fa3}
@media(prefers-color-scheme:dark){:root{--heard:#1f5a66;--s0:#6cc5d4;--s1:#e8b062;--s2:#c3a4f0;--s3:#9bd18a;--s4:#f08c97;--s5:#93b8f7}}
main{overflow-wrap:break-word;max-width:78rem;margin:0 auto;padding:2rem 1.25rem 4rem}
main>p{margin:0 0 .5rem}
.columns{display:grid;grid-template-columns:minmax(0,25rem) minmax(0,1fr);gap:1rem;align-items:start;margin-top:1rem}
input[type=file]{position:absolute;inset:0;opacity:0;cursor:pointer}
#drop.over{border-color:var(--accent);box-shadow:0 0 0 3px color-mix(in srgb,var(--accent) 22%,transparent)}
.check small{padding-left:1.5rem}
.run{position:sticky;bottom:.5rem;display:flex;flex-wrap:wrap;gap:.5rem;align-items:center;padding:.8rem 1.25rem;background:var(--card);border:1px solid var(--line);border-radius:.6rem;box-shadow:0 -.2rem 1rem color-mix(in srgb,var(--ink) 8%,transparent)}
.run p{flex-basis:100%;margin:0}.run p:empty{display:none}
.listen{position:sticky;top:.5rem;z-index:1;padding:.8rem 1.25rem;box-shadow:0 .3rem 1rem color-mix(in srgb,var(--ink) 8%,transparent)}
audio{display:block;width:100%;height:2.75rem}
#result-title{scroll-margin-top:10rem}#result-title:focus{outline:none}
.ribbon{margin:-1.1rem -1.25rem 1rem!important;padding:.45rem 1.25rem;border-radius:.55rem .55rem 0 0;color:var(--warn);font-weight:600;background:repeating-linear-gradient(135deg,color-mix(in srgb,var(--warn) 14%,var(--card)) 0 .7rem,color-mix(in srgb,var(--warn) 9%,var(--card)) .7rem 1.4rem);border-bottom:1px solid color-mix(in srgb,var(--warn) 45%,transparent)}
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
#compare{margin-top:0}
.pair{display:grid;grid-template-columns:repeat(2,minmax(0,1fr));gap:0 1.5rem;margin-top:.8rem}
.aligned{margin:1rem 0;line-height:1.75}.aligned .pair{margin-top:0;border-top:1px solid var(--line)}
.said{margin:.3rem 0 .5rem!important}
.word.differs{scroll-margin-bottom:8rem}
.differs{padding:.05em .1em;border-radius:.2em;background:color-mix(in srgb,var(--warn) 14%,transparent)}
.other{text-decoration:underline dashed var(--warn) 2px;text-underline-offset:.25em}
.only{box-shadow:inset 0 0 0 1.5px var(--warn)}
.absent{display:inline-block;width:1em;border-bottom:2px dotted var(--warn)}
.differs[aria-current]{outline:2px solid var(--accent)}
.steps{position:sticky;bottom:0;padding:.5rem 0;background:var(--card);border-top:1px solid var(--line)}.steps p{flex-basis:100%;margin:0}
.tools{margin-top:1rem;padding-top:.8rem;border-top:1px solid var(--line)}
#code>div{margin-top:.9rem}#code .row{justify-content:space-between}
@media(max-width:56rem){.columns{grid-template-columns:minmax(0,1fr)}.listen{top:0}main{padding:1.25rem .75rem 3rem}section{padding:1rem}h1{font-size:1.9rem}.ribbon{margin:-1rem -1rem 1rem!important;padding-inline:1rem}}
@media(max-width:36rem){.pair{grid-template-columns:minmax(0,1fr)}}
@media(prefers-reduced-motion:no-preference){button,.word{transition:background .1s,border-color .1s}}
`;
