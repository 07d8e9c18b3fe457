/** The stylesheet of the site. */
export const STYLE = `
* { box-sizing: border-box; }
body { margin: 0; font: 16px/1.5 system-ui, "DejaVu Sans", sans-serif; color: #1c2733; background: #eef3f4; }
body.framed { background: #fff; padding: 4px 2px; }
.sandbox { margin: 0; padding: 6px 24px; background: #5b3fa8; color: #fff; font-size: 14px; text-align: center; }
header { display: flex; gap: 32px; align-items: center; padding: 14px 24px; background: #0b6b68; }
header a { color: #fff; text-decoration: none; margin-right: 18px; }
header .brand { font-size: 22px; font-weight: 700; letter-spacing: .5px; }
.columns { display: flex; gap: 24px; max-width: 1020px; margin: 24px auto; padding: 0 24px; align-items: flex-start; }
main { flex: 1; background: #fff; padding: 8px 28px 28px; border-radius: 10px; box-shadow: 0 1px 4px #0002; }
aside { width: 260px; background: #fff; padding: 4px 20px 16px; border-radius: 10px; box-shadow: 0 1px 4px #0002; }
aside h2 { font-size: 17px; }
aside ul { list-style: none; padding: 0; }
h1 { font-size: 26px; }
footer { text-align: center; color: #5c6b78; font-size: 13px; padding: 24px; }
form .row { display: flex; flex-wrap: wrap; gap: 16px; }
.cards { display: grid; grid-template-columns: repeat(auto-fill, minmax(250px, 1fr)); gap: 16px; }
.field { margin: 10px 0; min-width: 200px; flex: 1; }
.field label { display: block; font-size: 14px; font-weight: 600; margin-bottom: 3px; }
input:not([type=checkbox]):not([type=radio]), select { width: 100%; padding: 9px 10px; font: inherit; background: #fff; border: 1px solid #93a4b0; border-radius: 6px; }
[aria-invalid=true] { border-color: #b3261e !important; border-width: 2px !important; }
.error { color: #b3261e; font-size: 14px; margin: 3px 0 0; }
[role=alert] { background: #fbe9e7; border-left: 4px solid #b3261e; padding: 10px 14px; margin: 14px 0; }
fieldset { border: 1px solid #cfd9df; border-radius: 8px; margin: 18px 0; padding: 6px 18px 14px; }
legend { font-weight: 700; padding: 0 8px; }
button { font: inherit; font-weight: 600; padding: 10px 20px; border-radius: 7px; border: 1px solid #0b6b68; background: #fff; color: #0b6b68; cursor: pointer; }
button.primary { background: #e2572b; border-color: #e2572b; color: #fff; }
button[disabled] { opacity: .5; cursor: default; }
button[aria-pressed=true] { background: #0b6b68; color: #fff; }
.flights { list-style: none; padding: 0; }
.flights li { display: flex; gap: 22px; align-items: center; border: 1px solid #cfd9df; border-radius: 8px; padding: 12px 18px; margin: 10px 0; }
.flights .times { font-size: 20px; font-weight: 700; }
.flights .price { margin-left: auto; font-size: 18px; font-weight: 700; }
.cards article { border: 1px solid #cfd9df; border-radius: 10px; padding: 2px 18px 18px; }
.cards .price { font-size: 20px; font-weight: 700; }
.cards ul, .lines { padding-left: 0; list-style: none; }
.lines li { display: flex; justify-content: space-between; border-bottom: 1px dotted #cfd9df; padding: 6px 0; }
.total { font-size: 20px; display: flex; justify-content: space-between; }
.extra { display: flex; gap: 12px; align-items: baseline; border-bottom: 1px solid #e3eaee; padding: 10px 0; }
.extra .price { margin-left: auto; }
iframe { width: 100%; border: 1px solid #cfd9df; border-radius: 8px; background: #fff; }
iframe.card { height: 275px; }
iframe.check { height: 120px; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 6px 22px; }
dt { font-weight: 600; } dd { margin: 0; }
.locator { font: 700 30px/1.2 ui-monospace, "DejaVu Sans Mono", monospace; letter-spacing: 4px; }
.busy { color: #5c6b78; font-style: italic; }
.veil { position: fixed; inset: 0; background: #1c2733aa; display: flex; align-items: center; justify-content: center; z-index: 20; }
.wall { background: #fff; border-radius: 12px; padding: 10px 30px 26px; max-width: 480px; }
.wall button { margin-right: 10px; }
.wall.bar { position: fixed; inset: auto 0 0 0; max-width: none; min-height: 45vh; border-radius: 0; border-top: 4px solid #e2572b; z-index: 20; }
.over { position: fixed; inset: 0; display: flex; align-items: center; justify-content: center; z-index: 30; }
.over > div { background: #fff7df; border: 2px solid #d9a400; border-radius: 12px; padding: 12px 28px 24px; width: 80%; min-height: 70vh; }
[hidden] { display: none !important; }
`;
