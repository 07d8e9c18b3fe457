import { alpha2Codes } from '../../kernel/domain/countries.ts';
import { html, type Markup, page } from './page.ts';
import { type Pages, redirect, type Visit } from './visit.ts';

export const passengersPages: Pages = {
  'GET /passengers': (visit) => {
    if (!visit.session.fare) return redirect('/');
    return passengersPage(visit, {});
  },
  // Scenarios that end before the till take effect here.
  'POST /passengers': (visit) => {
    const { session, form, ports } = visit;
    const { search, fare, scenario } = session;
    if (!search || !fare) return redirect('/');
    const typed = Object.fromEntries([...form].map(([name, value]) => [name, value.trim()]));
    session.typed = typed;
    const errors = errorsOf(typed, search.adults, ports.clock.now());
    if (scenario === 'form_rejected')
      errors['adult-1-passport'] ??= 'This passport number is not accepted. Look at it again.';
    if (Object.keys(errors).length > 0) return passengersPage(visit, errors);
    session.familyNames = adultsOf(search.adults).map((n) => typed[`adult-${n}-last-name`] ?? '');
    session.email = typed.email ?? '';
    session.reference = typed.reference ?? '';
    session.typed = {};
    if (scenario === 'sold_out') return redirect('/sold-out');
    if (scenario === 'account_wall') return redirect('/account');
    if (scenario === 'captcha') return redirect('/check');
    return redirect('/extras');
  },
};

type Options = readonly (readonly [value: string, label: string])[];

type Field = readonly [
  name: string,
  label: string,
  kind: 'text' | 'email' | 'tel' | 'date' | Options,
  isFine: (value: string, nowMs: number) => boolean,
  error: string,
  hint?: string,
];

const TITLES = [
  ['MR', 'Mr'],
  ['MRS', 'Mrs'],
  ['MS', 'Ms'],
  ['MISS', 'Miss'],
  ['DR', 'Dr'],
] as const;
const GENDERS = [
  ['male', 'Male'],
  ['female', 'Female'],
] as const;

const NAME = /^\p{L}[\p{L}\p{M} '’-]{0,39}$/u;
const isGiven = (value: string): boolean => value !== '';
const isName = (value: string): boolean => NAME.test(value);

let countries: readonly (readonly [string, string])[] | undefined;
function countryOptions(): readonly (readonly [string, string])[] {
  const names = new Intl.DisplayNames('en', { type: 'region' });
  countries ??= alpha2Codes()
    .map((code) => [code, names.of(code) ?? code] as const)
    .sort(([, a], [, b]) => a.localeCompare(b, 'en'));
  return countries;
}

const PERSON: readonly Field[] = [
  ['title', 'Title', TITLES, isGiven, 'Choose a title.'],
  ['first-name', 'First name', 'text', isName, 'Give the first name as in the passport.'],
  ['last-name', 'Last name', 'text', isName, 'Give the last name as in the passport.'],
  ['gender', 'Gender', GENDERS, isGiven, 'Choose one.'],
  ['born', 'Date of birth', 'text', isBirthDate, 'Give the date of birth as DD/MM/YYYY.', 'DD/MM/YYYY'],
  ['nationality', 'Nationality', [], (value) => /^[A-Z]{2}$/.test(value), 'Choose a country.'],
  [
    'passport',
    'Passport number',
    'text',
    (value) => /^[A-Za-z0-9]{5,14}$/.test(value),
    'This is not a passport number.',
  ],
  [
    'passport-expiry',
    'Passport expires',
    'date',
    (value, nowMs) => Date.parse(value) > nowMs,
    'The passport has to be valid on the flight.',
  ],
];

const CONTACT: readonly Field[] = [
  ['email', 'E-mail', 'email', (value) => /^[^@\s]+@[^@\s]+\.[^@\s]+$/.test(value), 'Give an e-mail address.'],
  ['phone', 'Mobile phone', 'tel', (value) => /^\+\d{7,15}$/.test(value), 'Give the number with + and the country.'],
  ['reference', 'Your reference (optional)', 'text', (value) => value.length <= 64, 'At most 64 characters.'],
];

function isBirthDate(value: string, nowMs: number): boolean {
  const [, day = '', month = '', year = ''] = /^(\d{2})\/(\d{2})\/(\d{4})$/.exec(value) ?? [];
  const at = Date.parse(`${year}-${month}-${day}T00:00:00Z`);
  return at < nowMs && new Date(at).getUTCDate() === Number(day);
}

const adultsOf = (count: number): number[] => Array.from({ length: count }, (_, i) => i + 1);

function errorsOf(typed: Record<string, string>, adults: number, nowMs: number): Record<string, string> {
  const errors: Record<string, string> = {};
  const look = (fields: readonly Field[], prefix: string) => {
    for (const [name, , , isFine, error] of fields)
      if (!isFine(typed[prefix + name] ?? '', nowMs)) errors[prefix + name] = error;
  };
  for (const n of adultsOf(adults)) look(PERSON, `adult-${n}-`);
  look(CONTACT, '');
  return errors;
}

function passengersPage(visit: Visit, errors: Readonly<Record<string, string>>) {
  const { session } = visit;
  const isWrong = Object.keys(errors).length > 0;
  const fieldsOf = (fields: readonly Field[], prefix: string) =>
    html`<div class="row">${fields.map((one) => fieldShown(one, prefix + one[0], session.typed, errors))}</div>`;
  return page(visit, 'Who is flying?', { status: isWrong ? 422 : 200, hasBasket: true })`
${isWrong && html`<p role="alert">Some details are not right yet. Look at the marked fields.</p>`}
<form method="post" action="/passengers" novalidate>
${adultsOf(session.search?.adults ?? 1).map(
  (n) => html`<fieldset><legend>Adult ${n}</legend>${fieldsOf(PERSON, `adult-${n}-`)}</fieldset>`,
)}
<fieldset><legend>Contact</legend>${fieldsOf(CONTACT, '')}</fieldset>
<button class="primary">Continue to extras</button>
</form>`;
}

function fieldShown(
  [name, label, kind, , , hint = '']: Field,
  id: string,
  typed: Readonly<Record<string, string>>,
  errors: Readonly<Record<string, string>>,
): Markup {
  const value = typed[id] ?? '';
  const error = errors[id];
  const wrong = error === undefined ? '' : html`aria-invalid="true" aria-describedby="${id}-error"`;
  const options = name === 'nationality' ? countryOptions() : kind;
  const input =
    typeof options === 'string'
      ? html`<input id="${id}" name="${id}" type="${options}" autocomplete="off" placeholder="${hint}" ${wrong} value="${value}">`
      : html`<select id="${id}" name="${id}" ${wrong}><option value="">Choose…</option>${options.map(
          ([code, shown]) => html`<option value="${code}" ${code === value ? 'selected' : ''}>${shown}</option>`,
        )}</select>`;
  return html`<div class="field"><label for="${id}">${label}</label>${input}
${error !== undefined && html`<p class="error" id="${id}-error">${error}</p>`}</div>`;
}
