// The console's own styles in addition to forms and tables: screens next to their navigation, or below it on narrow displays.
const FRAME = `
:root{--good:#1f6b37}@media(prefers-color-scheme:dark){:root{--good:#86d29b}}
#waiting{margin:0 0 0 auto}
.sign-in{max-width:34rem;margin:8vh auto;padding:1.5rem;background:var(--card);border:1px solid var(--line);border-radius:.6rem}
.shell{display:grid;grid-template-columns:13rem minmax(0,1fr);gap:1.5rem;max-width:96rem;margin:0 auto;padding:1.25rem}
.side{position:sticky;top:1rem;align-self:start}
[for=go-to-text]{display:block;margin-bottom:.5rem}
#go-to{width:100%;margin-bottom:.6rem;text-align:left}#go-to kbd{float:right;color:var(--soft)}
.choices{min-height:12rem;margin:.6rem 0 0;padding:0;list-style:none}.choices li{padding:.35rem .7rem;border-radius:.4rem;cursor:pointer;overflow-wrap:anywhere}
.choices [aria-selected=true]{background:color-mix(in srgb,var(--accent) 14%,transparent);box-shadow:inset 3px 0 var(--accent)}
#nav ul{margin:0 0 .6rem;padding:0;list-style:none}
.group{margin:.8rem 0 .2rem;padding:0 .7rem;color:var(--soft);font-size:.8rem;font-weight:600}
#nav a{display:block;padding:.35rem .7rem;color:inherit;text-decoration:none;border-radius:.4rem}
#nav a:hover{background:color-mix(in srgb,var(--ink) 6%,transparent)}
#nav a[aria-current]{font-weight:600;background:color-mix(in srgb,var(--accent) 14%,transparent);box-shadow:inset 3px 0 var(--accent)}
main{min-width:0;overflow-wrap:break-word}
h1{font-size:1.7rem;margin:0 0 .6rem}h1:focus,dialog h2:focus{outline:none}
#status{margin:0 0 .8rem;padding:.4rem .7rem;background:color-mix(in srgb,var(--accent) 10%,transparent);border-left:3px solid var(--accent);border-radius:.2rem}
#status:empty{display:none}
#screen[aria-busy]{opacity:.6}
#screen>section,#screen>div{margin-bottom:1rem}#screen>a{display:inline-block;margin-bottom:.5rem}
section h2+*{margin-top:.5rem}dialog h3{margin-top:1rem}
.row .row{margin:0}
.empty{padding:1.2rem;color:var(--soft);background:var(--card);border:1px dashed var(--line);border-radius:.6rem}
`;

const FORMS = `
.filters{display:flex;flex-wrap:wrap;gap:.6rem;align-items:end;margin-bottom:.6rem}.filters label{font-size:.875rem}
.filters input,.filters select{display:block;width:11rem}
.filters input[type=checkbox]{display:inline-block;width:1.15rem}.filters label:has([type=checkbox]){padding:.4rem 0}
.side-by-side{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(26rem,100%),1fr));gap:1rem}
.form{max-width:40rem}.form .bad{margin:.2rem 0 0}.form .bad:empty{display:none}.form fieldset label{display:inline-block}
[aria-invalid]{border-color:var(--bad)!important}
legend{padding:0}textarea{font:.9rem/1.45 ui-monospace,Menlo,monospace}
a.button{color:inherit;text-decoration:none}
.danger,.danger:hover{color:var(--bad);border-color:var(--bad)}
.secret{user-select:all}
.target{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(14rem,100%),1fr));gap:.5rem 1rem;margin:.6rem 0;padding:.2rem .9rem .8rem;border:1px solid var(--line);border-radius:.4rem}
.target>:not(label,legend){grid-column:1/-1}.target label{margin:0 .8rem 0 0}.target details{margin:0}
.target label:has([type=checkbox]){white-space:nowrap}
`;

/** States, facts and lists. Within a sentence, a step or a fact, a state may wrap. */
const WORDS = `
.mark{font-weight:500;white-space:nowrap}.steps .mark,.facts-list .mark,p .mark{white-space:normal}
.mark.good{color:var(--good)}.mark.warn{color:var(--warn)}.mark.bad{color:var(--bad)}.mark.busy{color:var(--accent)}.mark.soft{color:var(--soft)}
.tag{display:inline-block;margin-left:.4rem;padding:.05rem .4rem;font-size:.8rem;color:var(--soft);white-space:nowrap;border:1px solid var(--soft);border-radius:1rem}
.facts-list{grid-template-columns:fit-content(40%) minmax(0,1fr);margin:.6rem 0 0;overflow-wrap:anywhere}.facts-list dt{color:var(--soft)}
.plain,.steps,.changes{padding:0;list-style:none}.plain{margin:0}.steps{margin:.5rem 0 0}.steps li,.changes li{margin:.3rem 0}
.whole{white-space:nowrap}
`;

const TABLES = `
.scroll{margin-top:.4rem}td{font-variant-numeric:tabular-nums}
td a,td code{display:inline-block;max-width:22rem;overflow-wrap:break-word}td a code{display:inline}
td time{display:inline-block;min-width:6.5rem}td .id{display:block;min-width:10.5rem;overflow-wrap:anywhere}
td .soft{display:block}td .wide{min-width:16.5rem}td details{margin:0}td details p:empty{display:none}
td .facts-list{font-size:.85rem}td .facts-list,td .steps{margin:.4rem 0}td .facts-list time{min-width:0}td .steps{padding-left:1.4rem}
.matrix th,.matrix td{padding-right:.5rem}.matrix thead th{font-size:.8rem}.matrix tbody th{font-weight:400}
.matrix th:first-child{position:sticky;left:0;background:var(--card)}
.change{margin-top:.4rem;font-size:.85rem}.change th{font-weight:400;white-space:nowrap}.change td{min-width:9rem}
.figure,.figure small{display:block;text-align:right}
.track{min-height:.4rem}.bar.held{opacity:.45}
.gauge{min-width:10rem}.gauge+.gauge{margin-top:.6rem}.gauge small{display:block}.gauge .track{display:flex;position:relative}
.soft-sign{position:absolute;top:-.2rem;bottom:-.2rem;width:2px;background:var(--warn)}
`;

const NARROW = `
@media(max-width:48rem){
.shell{grid-template-columns:minmax(0,1fr);gap:.5rem;padding:.75rem}.side{position:static}
#nav{display:flex;flex-wrap:wrap;gap:.2rem;margin:.5rem 0}#nav ul,#nav li{display:contents}#nav a{padding:.2rem .6rem;border:1px solid var(--line)}.group{display:none}
.filters input:not([type=checkbox]),.filters select{width:100%}.filters label{flex:1 1 8rem}
section{padding:1rem}td a,td code{max-width:11rem}
}
`;

export const CONSOLE_STYLE = FRAME + FORMS + WORDS + TABLES + NARROW;
