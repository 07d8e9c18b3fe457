const $ = (query, within = document) => within.querySelector(query);
const all = (query, within = document) => [...within.querySelectorAll(query)];
const post = (path, fields = {}) => fetch(path, { method: 'POST', body: new URLSearchParams(fields) });
const element = (name, text, more = {}) => {
  const made = document.createElement(name);
  made.textContent = text;
  for (const [key, value] of Object.entries(more)) made.setAttribute(key, value);
  return made;
};

// Closes walls; some of them appear late.
for (const wall of all('[data-wall]')) {
  const after = Number(wall.dataset.after || 0);
  if (after > 0)
    setTimeout(() => {
      wall.hidden = false;
    }, after);
  for (const button of all('[data-close]', wall))
    button.addEventListener('click', async () => {
      await post(wall.dataset.wall);
      wall.remove();
    });
}

// One-way searches disable the return day.
const back = $('#return-date');
for (const radio of all('input[name=trip]'))
  radio.addEventListener('change', () => {
    back.disabled = radio.value !== 'return';
  });

// Flights load after the page.
function flightItem(flight, direction) {
  const item = document.createElement('li');
  const times = element('span', '', { class: 'times' });
  times.append(
    element('time', flight.departs, { datetime: flight.departs_at, class: 'departs' }),
    ' – ',
    element('time', flight.arrives, { datetime: flight.arrives_at, class: 'arrives' }),
  );
  if (flight.days_later > 0) times.append(' ', element('sup', `+${flight.days_later}`));
  const choose = element('button', 'Choose', {
    type: 'button',
    'aria-pressed': 'false',
    'aria-label': `Choose ${flight.number}`,
  });
  choose.addEventListener('click', () => chosen(direction, flight, choose));
  item.append(
    element('span', flight.number, { class: 'number' }),
    times,
    element('span', `${flight.from} – ${flight.to}`, { class: 'route' }),
    element('span', flight.duration, { class: 'duration' }),
    element('span', `from ${flight.price}`, { class: 'price' }),
    choose,
  );
  return item;
}
async function chosen(direction, flight, button) {
  const answer = await (await post('/flights/choose', { direction, flight: flight.id })).json();
  for (const other of all('button', button.closest('ul'))) other.setAttribute('aria-pressed', String(other === button));
  $('#to-fares').disabled = !answer.is_complete;
}
async function listFlights(section) {
  const status = $('[role=status]', section);
  const answer = await fetch(`/api/flights?direction=${section.dataset.direction}`);
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

// The card's frame gives the page a token.
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
    parent.postMessage(
      made.token ? { kind: 'made', token: made.token } : { kind: 'refused', text: made.error },
      origin,
    );
  });
  card.addEventListener('input', () => parent.postMessage({ kind: 'typed' }, location.origin), { once: true });
  card.addEventListener('input', () => {
    if (/^\d{3}$/.test(card.elements.cvc.value)) parent.postMessage({ kind: 'complete' }, location.origin);
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
