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

/** The browser script: walls, flights, extras, card and pay button. */
export const SCRIPT = `'use strict';
const $ = (query, within = document) => within.querySelector(query);
const all = (query, within = document) => [...within.querySelectorAll(query)];
const post = (path, fields = {}) => fetch(path, { method: 'POST', body: new URLSearchParams(fields) });
const element = (name, text, more = {}) => {
  const made = document.createElement(name);
  made.textContent = text;
  for (const [key, value] of Object.entries(more)) made.setAttribute(key, value);
  return made;
};

// Walls, some of which come late.
for (const wall of all('[data-wall]')) {
  const after = Number(wall.dataset.after || 0);
  if (after > 0) setTimeout(() => { wall.hidden = false; }, after);
  for (const button of all('[data-close]', wall))
    button.addEventListener('click', async () => {
      await post(wall.dataset.wall);
      wall.remove();
    });
}

// One-way searches hide the return day.
const back = $('#return-date');
for (const radio of all('input[name=trip]'))
  radio.addEventListener('change', () => { back.disabled = radio.value !== 'return'; });

// Flights come after the page.
function flightItem(flight, direction) {
  const item = document.createElement('li');
  const times = element('span', '', { class: 'times' });
  times.append(
    element('time', flight.departs, { datetime: flight.departs_at, class: 'departs' }), ' – ',
    element('time', flight.arrives, { datetime: flight.arrives_at, class: 'arrives' }));
  if (flight.days_later > 0) times.append(' ', element('sup', '+' + flight.days_later));
  const choose = element('button', 'Choose', { type: 'button', 'aria-pressed': 'false', 'aria-label': 'Choose ' + flight.number });
  choose.addEventListener('click', () => chosen(direction, flight, choose));
  item.append(
    element('span', flight.number, { class: 'number' }), times,
    element('span', flight.from + ' – ' + flight.to, { class: 'route' }),
    element('span', flight.duration, { class: 'duration' }),
    element('span', 'from ' + flight.price, { class: 'price' }), choose);
  return item;
}
async function chosen(direction, flight, button) {
  const answer = await (await post('/flights/choose', { direction, flight: flight.id })).json();
  for (const other of all('button', button.closest('ul'))) other.setAttribute('aria-pressed', String(other === button));
  $('#to-fares').disabled = !answer.is_complete;
}
async function listFlights(section) {
  const status = $('[role=status]', section);
  const answer = await fetch('/api/flights?direction=' + section.dataset.direction);
  const flights = answer.ok ? await answer.json() : [];
  $('ul', section).replaceChildren(...flights.map((flight) => flightItem(flight, section.dataset.direction)));
  status.textContent = flights.length === 0 ? 'No flights on this day.' : '';
  section.setAttribute('aria-busy', 'false');
}
for (const section of all('[data-direction]')) if (!section.hidden) listFlights(section);
const addReturn = $('#add-return');
if (addReturn)
  addReturn.addEventListener('submit', async (event) => {
    event.preventDefault();
    const answer = await (await post('/flights/return', new FormData(addReturn))).json();
    const error = $('.error', addReturn);
    error.textContent = answer.error || '';
    error.hidden = !answer.error;
    if (answer.error) return;
    const section = $('[data-direction=back]');
    section.hidden = false;
    $('#to-fares').disabled = true;
    await listFlights(section);
  });

for (const box of all('input[data-extra]'))
  box.addEventListener('change', async () => {
    const answer = await post('/extras/tick', { extra: box.value, ticked: String(box.checked) });
    const basket = await answer.json();
    for (const total of all('[data-basket-total]')) total.textContent = basket.total;
  });

// A framed card gives a token.
const pay = $('#pay-form');
if (pay) {
  const frame = $('iframe.card');
  const button = $('#pay');
  const error = $('#card-error');
  let isPaying = false;
  pay.addEventListener('submit', (event) => {
    event.preventDefault();
    if (isPaying) return;
    isPaying = true;
    button.disabled = true;
    error.hidden = true;
    frame.contentWindow.postMessage({ kind: 'token' }, location.origin);
  });
  addEventListener('message', async ({ origin, source, data }) => {
    if (origin !== location.origin || source !== frame.contentWindow) return;
    if (data.kind === 'typed' && pay.dataset.moves) {
      const basket = await (await post('/pay/refresh')).json();
      $('#total').textContent = basket.total;
    }
    if (data.kind === 'complete' && pay.dataset.paysItself)
      frame.contentWindow.postMessage({ kind: 'token' }, location.origin);
    if (data.kind === 'refused') {
      isPaying = false;
      button.disabled = false;
      error.textContent = data.text;
      error.hidden = false;
    }
    if (data.kind === 'made') {
      $('input[name=card]', pay).value = data.token;
      $('#paying').hidden = false;
      pay.submit();
    }
  });
}

const card = $('#card-form');
if (card) {
  addEventListener('message', async ({ origin, source, data }) => {
    if (origin !== location.origin || source !== parent || data.kind !== 'token') return;
    const answer = await post('/card', Object.fromEntries(new FormData(card)));
    const made = await answer.json();
    parent.postMessage(made.token ? { kind: 'made', token: made.token } : { kind: 'refused', text: made.error }, origin);
  });
  card.addEventListener('input', () => parent.postMessage({ kind: 'typed' }, location.origin), { once: true });
  card.addEventListener('input', () => {
    if (/^\\d{3}$/.test(card.elements.cvc.value)) parent.postMessage({ kind: 'complete' }, location.origin);
  });
  card.addEventListener('submit', (event) => event.preventDefault());
}

if ($('[data-reloads]')) setTimeout(() => location.reload(), 300);

const waiting = $('[data-waiting]');
if (waiting)
  setInterval(async () => {
    const state = await (await fetch('/api/confirmation')).json();
    if (state.is_ready) location.reload();
  }, 400);
`;
