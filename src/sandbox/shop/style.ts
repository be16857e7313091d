import { createHash } from 'node:crypto';

/** The stylesheet of every page. */
export const STYLE = `
:root {
  color-scheme: light dark;
  --page: light-dark(#f6f5f2, #16181b);
  --card: light-dark(#ffffff, #1f2226);
  --text: light-dark(#1d2125, #e8e8e5);
  --muted: light-dark(#5b6168, #a5abb2);
  --line: light-dark(#d9d7d1, #3a3f45);
  --field: light-dark(#84898f, #7d848c);
  --accent: light-dark(#1f5f54, #7fd0bf);
  --on-accent: light-dark(#ffffff, #0e2621);
  --good: light-dark(#1d6b3a, #84d6a0);
  --wait: light-dark(#7d5300, #ecc169);
  --bad: light-dark(#a12622, #ff9f98);
}
* { box-sizing: border-box; }
body {
  margin: 0; min-height: 100vh; display: flex; flex-direction: column;
  background: var(--page); color: var(--text);
  font: 1rem/1.55 system-ui, sans-serif; overflow-wrap: anywhere;
}
header, main, footer { width: 100%; max-width: 64rem; margin: 0 auto; padding: 1rem; }
header {
  display: flex; flex-wrap: wrap; gap: .25rem 1.25rem; align-items: baseline;
  border-bottom: 1px solid var(--line);
}
header .name { font-weight: 700; font-size: 1.125rem; margin-right: auto; }
header nav { display: flex; gap: 1.25rem; }
main { flex: 1; padding-block: 1.5rem 3rem; }
footer { color: var(--muted); font-size: .875rem; border-top: 1px solid var(--line); }
h1 { font-size: clamp(1.5rem, 4vw, 2rem); line-height: 1.2; margin: 0 0 .75rem; }
h2 { font-size: 1.25rem; line-height: 1.3; margin: 2rem 0 .75rem; }
h3 { font-size: 1.0625rem; line-height: 1.35; margin: 0; }
p { margin: 0 0 .75rem; }
a { color: var(--accent); text-underline-offset: .15em; }
img { display: block; max-width: 100%; height: auto; border-radius: .5rem; margin-bottom: 1rem; }
code, pre { font-family: ui-monospace, monospace; font-size: .9375em; }
pre {
  margin: 0 0 .75rem; padding: .875rem 1rem; border: 1px solid var(--line); border-radius: .5rem;
  background: var(--page); white-space: pre-wrap; overflow-wrap: anywhere;
}
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
.text { white-space: pre-line; max-width: 44rem; }
.description { max-width: 44rem; }
.description :is(ul, ol) { margin: 0 0 .75rem; padding-left: 1.5rem; }
.description :is(h2, h3, h4, h5, h6) { margin: 1.25rem 0 .5rem; }
.muted { color: var(--muted); }
.price { font-weight: 650; font-variant-numeric: tabular-nums; }
.products {
  list-style: none; margin: 0; padding: 0;
  display: grid; gap: 1rem; grid-template-columns: repeat(auto-fill, minmax(min(100%, 17rem), 1fr));
}
.products li {
  position: relative; padding: 1.125rem 1.25rem;
  background: var(--card); border: 1px solid var(--line); border-radius: .75rem;
  display: flex; flex-direction: column; gap: .75rem; justify-content: space-between;
}
.products a::after { content: ""; position: absolute; inset: 0; border-radius: .75rem; }
.products a { text-decoration: none; color: inherit; }
.products li:hover { border-color: var(--accent); }
.products a:focus-visible { outline: none; }
.products a:focus-visible::after { outline: 3px solid var(--accent); outline-offset: 2px; }
.products p { display: flex; flex-wrap: wrap; justify-content: space-between; gap: .25rem 1rem; margin: 0; }
.card {
  background: var(--card); border: 1px solid var(--line); border-radius: .75rem;
  padding: 1.25rem; margin: 0 0 1.25rem;
}
.card > h2:first-child { margin-top: 0; }
.card > :last-child { margin-bottom: 0; }
.alert { border-color: var(--bad); border-width: 2px; color: var(--bad); font-weight: 600; }
.columns { display: grid; grid-template-columns: minmax(0, 1fr); gap: 1.25rem 2rem; align-items: start; }
.columns .card:last-child { margin-bottom: 0; }
@media (min-width: 52rem) {
  .columns { grid-template-columns: minmax(0, 1fr) 24rem; }
}
form { display: grid; gap: 1rem; }
.field { display: grid; gap: .25rem; }
.check { display: flex; gap: .625rem; align-items: baseline; }
.fault { color: var(--bad); font-weight: 600; margin: 0; }
label, legend { font-weight: 600; padding: 0; }
label .muted { font-weight: 400; }
input, select, textarea, button { font: inherit; color: inherit; }
input:not([type=checkbox], [type=radio]), select, textarea {
  width: 100%; padding: .5rem .625rem; min-height: 2.75rem;
  border: 1px solid var(--field); border-radius: .5rem; background: var(--card);
}
:is(input, select, textarea)[aria-invalid=true] { border: 2px solid var(--bad); }
textarea { min-height: 6rem; resize: vertical; }
input[type=checkbox], input[type=radio] { accent-color: var(--accent); width: 1.125rem; height: 1.125rem; }
fieldset { border: 0; margin: 0; padding: 0; min-width: 0; display: grid; gap: 1rem; }
.rating { display: flex; flex-wrap: wrap; gap: .5rem .875rem; margin-top: .375rem; }
.rating label { display: flex; gap: .375rem; align-items: center; font-weight: 400; min-height: 2rem; }
button {
  min-height: 2.75rem; padding: .5rem 1.125rem; cursor: pointer; font-weight: 600;
  border: 1px solid var(--field); border-radius: .5rem; background: var(--card);
}
button:hover { border-color: var(--accent); }
button.main { background: var(--accent); border-color: var(--accent); color: var(--on-accent); }
.buttons { display: flex; flex-wrap: wrap; gap: .75rem; }
.amount { display: flex; flex-wrap: wrap; gap: .75rem; align-items: end; }
.amount .field { flex: 1 1 9rem; }
hr { width: 100%; border: 0; border-top: 1px solid var(--line); margin: 1rem 0; }
details { border-top: 1px solid var(--line); padding-top: .75rem; }
summary { cursor: pointer; font-weight: 600; min-height: 1.75rem; }
details > :not(summary) { margin-top: .75rem; }
dl { display: grid; grid-template-columns: auto minmax(0, 1fr); gap: .375rem 1rem; margin: 0; }
dt { color: var(--muted); }
dd { margin: 0; font-variant-numeric: tabular-nums; }
.status { font-size: 1.125rem; font-weight: 650; }
.status::before { content: "● "; }
.good { color: var(--good); }
.wait { color: var(--wait); }
.bad { color: var(--bad); }
.messages { list-style: none; margin: 0 0 1.25rem; padding: 0; display: grid; gap: .75rem; }
.messages li { padding: .875rem 1.125rem; background: var(--card); border: 1px solid var(--line); border-radius: .75rem; }
.messages .seller { border-left: .25rem solid var(--accent); }
.messages dl { margin-top: .5rem; }
.messages p { margin: .25rem 0 0; white-space: pre-line; }
`;

/** The hash by which a page's Content-Security-Policy allows this stylesheet and no other. */
export const STYLE_HASH = `'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`;
