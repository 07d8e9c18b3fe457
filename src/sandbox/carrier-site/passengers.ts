import { alpha2Codes } from '../../kernel/domain/countries.ts';
import { html, type Markup, page } from './page.ts';
import { type Handler, redirect, type Visit } from './visit.ts';

interface Field {
  readonly name: string;
  readonly label: string;
  readonly kind: 'text' | 'email' | 'tel' | 'date' | readonly (readonly [value: string, label: string])[];
  /** What is wrong with a value; null: nothing. */
  check(value: string, nowMs: number): string | null;
  readonly hint?: string;
}

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
const needs = (isFine: boolean, error: string): string | null => (isFine ? null : error);

let countries: readonly (readonly [string, string])[] | undefined;
function countryOptions(): readonly (readonly [string, string])[] {
  const names = new Intl.DisplayNames('en', { type: 'region' });
  countries ??= alpha2Codes()
    .map((code) => [code, names.of(code) ?? code] as const)
    .sort(([, a], [, b]) => a.localeCompare(b, 'en'));
  return countries;
}

const PERSON: readonly Field[] = [
  { name: 'title', label: 'Title', kind: TITLES, check: (value) => needs(value !== '', 'Choose a title.') },
  {
    name: 'first-name',
    label: 'First name',
    kind: 'text',
    check: (value) => needs(NAME.test(value), 'Give the first name as in the passport.'),
  },
  {
    name: 'last-name',
    label: 'Last name',
    kind: 'text',
    check: (value) => needs(NAME.test(value), 'Give the last name as in the passport.'),
  },
  { name: 'gender', label: 'Gender', kind: GENDERS, check: (value) => needs(value !== '', 'Choose one.') },
  {
    name: 'born',
    label: 'Date of birth',
    kind: 'text',
    hint: 'DD/MM/YYYY',
    check: (value, nowMs) => needs(isBirthDate(value, nowMs), 'Give the date of birth as DD/MM/YYYY.'),
  },
  {
    name: 'nationality',
    label: 'Nationality',
    kind: [],
    check: (value) => needs(/^[A-Z]{2}$/.test(value), 'Choose a country.'),
  },
  {
    name: 'passport',
    label: 'Passport number',
    kind: 'text',
    check: (value) => needs(/^[A-Za-z0-9]{5,14}$/.test(value), 'This is not a passport number.'),
  },
  {
    name: 'passport-expiry',
    label: 'Passport expires',
    kind: 'date',
    check: (value, nowMs) => needs(Date.parse(value) > nowMs, 'The passport has to be valid on the flight.'),
  },
];

const CONTACT: readonly Field[] = [
  {
    name: 'email',
    label: 'E-mail',
    kind: 'email',
    check: (value) => needs(/^[^@\s]+@[^@\s]+\.[^@\s]+$/.test(value), 'Give an e-mail address.'),
  },
  {
    name: 'phone',
    label: 'Mobile phone',
    kind: 'tel',
    check: (value) => needs(/^\+\d{7,15}$/.test(value), 'Give the number with + and the country.'),
  },
  {
    name: 'reference',
    label: 'Your reference (optional)',
    kind: 'text',
    check: (value) => needs(value.length <= 64, 'At most 64 characters.'),
  },
];

function isBirthDate(value: string, nowMs: number): boolean {
  const [, day = '', month = '', year = ''] = /^(\d{2})\/(\d{2})\/(\d{4})$/.exec(value) ?? [];
  const at = Date.parse(`${year}-${month}-${day}T00:00:00Z`);
  return at < nowMs && new Date(at).getUTCDate() === Number(day);
}

export const passengers: Handler = (visit) => {
  if (!visit.session.fare) return redirect('/');
  return passengersPage(visit, {});
};

/** Takes the form. Scenarios that end a purchase before the till do it here. */
export const takePassengers: Handler = (visit) => {
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
};

const adultsOf = (count: number): number[] => Array.from({ length: count }, (_, i) => i + 1);

function errorsOf(typed: Record<string, string>, adults: number, nowMs: number): Record<string, string> {
  const errors: Record<string, string> = {};
  const look = (fields: readonly Field[], prefix: string) => {
    for (const field of fields) {
      const error = field.check(typed[prefix + field.name] ?? '', nowMs);
      if (error !== null) errors[prefix + field.name] = error;
    }
  };
  for (const n of adultsOf(adults)) look(PERSON, `adult-${n}-`);
  look(CONTACT, '');
  return errors;
}

function passengersPage(visit: Visit, errors: Readonly<Record<string, string>>) {
  const { session } = visit;
  const isWrong = Object.keys(errors).length > 0;
  const fieldsOf = (fields: readonly Field[], prefix: string) =>
    html`<div class="row">${fields.map((one) => field(one, prefix + one.name, session.typed, errors))}</div>`;
  const main = html`${isWrong && html`<p role="alert">Some details are not right yet. Look at the marked fields.</p>`}
<form method="post" action="/passengers" novalidate>
${adultsOf(session.search?.adults ?? 1).map(
  (n) => html`<fieldset><legend>Adult ${n}</legend>${fieldsOf(PERSON, `adult-${n}-`)}</fieldset>`,
)}
<fieldset><legend>Contact</legend>${fieldsOf(CONTACT, '')}</fieldset>
<button class="primary">Continue to extras</button>
</form>`;
  return page(visit, 'Who is flying?', main, { status: isWrong ? 422 : 200, hasBasket: true });
}

function field(
  { label, kind, hint, name }: Field,
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
      ? html`<input id="${id}" name="${id}" type="${options}" autocomplete="off" placeholder="${hint ?? ''}" ${wrong} value="${value}">`
      : html`<select id="${id}" name="${id}" ${wrong}><option value="">Choose…</option>${options.map(
          ([code, shown]) => html`<option value="${code}" ${code === value ? 'selected' : ''}>${shown}</option>`,
        )}</select>`;
  return html`<div class="field"><label for="${id}">${label}</label>${input}
${error !== undefined && html`<p class="error" id="${id}-error">${error}</p>`}</div>`;
}
