import { namedAirports } from '../../../kernel/domain/airports.ts';
import { alpha2Of } from '../../../kernel/domain/countries.ts';
import { BASE_FIELDS, DOCUMENT_FIELDS, GENDERS, TITLES } from '../../../kernel/domain/passengers.ts';
import { nearest } from '../../../kernel/nearest.ts';
import { isLoopback, type Recipe, recipeSchema } from './recipe.ts';
import { pointsByPosition } from './selector.ts';
import { FILL_IN, type Fields, isFields, type Mistake, mistake, type Path, pathText, shapeMistakes } from './shape.ts';
import { NAMES_OF, PLACE } from './steps.ts';
import { dateFault, READ_TOKENS, WRITTEN_TOKENS } from './values.ts';

/**
 * Finds every mistake of a recipe: first those of its form, then what is well formed but cannot work. Each rule looks
 * only at what is there, so that one mistake hides no other.
 */
export function mistakesIn(json: unknown): Mistake[] {
  const shape = shapeMistakes(recipeSchema, json, []);
  if (!isFields(json)) return shape;
  const wrong = new Set(shape.map(({ path }) => path));
  const senseless = [...walked(json), ...ofSite(json), ...ofRoutes(json), ...ofCard(json), ...ofFlags(json)];
  return [...shape, ...senseless.filter(({ path }) => !wrong.has(path))];
}

/** Notes on a recipe without mistakes: limits that its writer may not want. */
export const notesIn = (recipe: Recipe): string[] => [...notesOn(recipe), ...notesAt(recipe, [])];

const notesOn = ({ search, mail, manage }: Recipe): string[] => [
  ...(mail || manage
    ? []
    : ['there is neither "mail" nor "manage": each purchase whose last page is lost waits for a person']),
  ...(['out', 'back'] as const)
    .filter((way) => search[way] && !search[way].read.stops)
    .map((way) => `search.${way}.read has no "stops": a connection in this list is sold as a non-stop flight`),
];

function notesAt(value: unknown, path: Path): string[] {
  const place = pathText(path);
  if (typeof value === 'string')
    return pointsByPosition(value) ? [`${place} points by position: it may fit something else one day`] : [];
  if (typeof value !== 'object' || value === null) return [];
  const isNeeded = isFields(value) && value.optional === true && NEEDED.test(place);
  const keys = Array.isArray(value) ? value.map((one, i) => [i, one] as const) : Object.entries(value);
  return [
    ...(isNeeded ? [`${place} is needed: "optional" changes nothing, and without it nothing is sold`] : []),
    ...keys.flatMap(([key, one]) => notesAt(one, [...path, key])),
  ];
}

interface Around {
  readonly path: Path;
  /** Names that have a value here. */
  readonly names: readonly string[];
  /** True if passengers are known, for a step `passengers` to repeat for. */
  readonly hasPassengers: boolean;
}

const { query, flights, passenger, contact, phone, card, reference, booking, account, picked, challenge } = NAMES_OF;
const form = { names: [...query, ...flights, ...contact, ...phone, ...reference], hasPassengers: true };

const PARTS: Readonly<Record<string, Omit<Around, 'path'>>> = {
  walls: { names: query, hasPassengers: false },
  search: { names: query, hasPassengers: false },
  fares: { names: query, hasPassengers: false },
  passengers: form,
  extras: form,
  till: form,
  rejected: form,
  confirmation: { ...form, hasPassengers: false },
  manage: { names: [...contact, ...reference, ...booking], hasPassengers: false },
};

const walked = (recipe: Fields): Mistake[] => {
  const hasBack = isFields(recipe.search) && recipe.search.back !== undefined;
  return Object.entries(PARTS).flatMap(([part, around]) => {
    const names = hasBack ? around.names : around.names.filter((name) => !name.startsWith('return_'));
    return walk(recipe[part], { ...around, names: [...names, ...account], path: [part] });
  });
};

function walk(value: unknown, around: Around): Mistake[] {
  const { path } = around;
  if (Array.isArray(value)) return value.flatMap((one, i) => walk(one, { ...around, path: [...path, i] }));
  if (!isFields(value)) return [];
  const names = [
    ...around.names,
    ...(value.do === 'passengers' ? passenger : []),
    ...(value.do === 'pick' ? picked : []),
    ...(pathText(path) === 'confirmation.challenge' && value.code !== undefined ? challenge : []),
  ];
  return [
    ...(typeof value.do === 'string' ? ofStep(value, around) : []),
    ...ofTarget(value, path),
    ...ofReading(value, path),
    ...ofFlight(value, path),
    ...Object.entries(value).flatMap(([key, one]) => {
      const at = [...path, key];
      if (key === 'map' || (key === 'name' && 'do' in value)) return [];
      if (typeof one === 'string') return TEMPLATES.has(key) ? ofText(one, { ...around, names, path: at }) : [];
      return walk(one, { ...around, names: pathText(at) === 'till.card' ? [...names, ...card] : names, path: at });
    }),
  ];
}

const TEMPLATES = new Set(['frame', 'name', 'label', 'text', 'placeholder', 'test_id', 'css', 'path', 'value']);

const DATES = new Set(['depart_date', 'return_date', 'passenger.born_on', 'passenger.passport_expiry', 'card.expiry']);
const PLAIN_FORMATS = ['upper', 'lower', 'digits'];
const EVERY_NAME: readonly string[] = Object.values(NAMES_OF).flat();

function ofText(text: string, { path, names }: Around): Mistake[] {
  return [...text.matchAll(PLACE)].flatMap(([, name = '', format]) => {
    if (!EVERY_NAME.includes(name)) return [];
    if (!names.includes(name)) return [mistake(path, 'place_absent', absence(name, path), nearest(name, names, 1)[0])];
    const formats = [
      ...PLAIN_FORMATS,
      ...(/\.phone_country$/.test(name) ? ['iso'] : []),
      ...(/\.phone_national$/.test(name) ? ['local'] : []),
    ];
    if (format === undefined || formats.includes(format)) return [];
    if (!DATES.has(name)) {
      const near = nearest(format, formats, 1)[0];
      return [mistake(path, 'word_unknown', `{${name}} has no format "${format}"`, near)];
    }
    const fault = dateFault(format, WRITTEN_TOKENS);
    return fault ? [mistake(path, 'word_unknown', `{${name}:${format}}: ${fault.message}`, fault.nearest)] : [];
  });
}

function absence(name: string, [part]: Path): string {
  if (name.startsWith('card.')) return 'the card is for till.card alone';
  if (name.startsWith('passenger.')) return `{${name}} has a value only within a step "passengers"`;
  if (name === 'picked') return '{picked} has a value only within a step "pick"';
  if (name === 'challenge.code') return '{challenge.code} has a value only in a challenge with a "code"';
  if (name.startsWith('return_') && part !== 'manage') return `{${name}} has no value where search has no "back"`;
  return `{${name}} has no value in ${part}`;
}

function ofStep(step: Fields, { path, hasPassengers }: Around): Mistake[] {
  const found: Mistake[] = [];
  if (step.do === 'passengers' && !hasPassengers)
    found.push(mistake(path, 'cannot_work', 'no passengers are known here: these steps are never taken'));
  if (step.do === 'choose' && step.value === undefined && step.label === undefined)
    found.push(mistake(path, 'key_missing', 'needs one of value, label'));
  if (step.do === 'open' && typeof step.path === 'string' && /^(?:[a-z][a-z+.-]*:|\/\/)/i.test(step.path))
    found.push(mistake([...path, 'path'], 'cannot_work', 'is an address of another site: paths begin with /'));
  const [place] = ['till.card', 'confirmation.challenge'].filter((one) => pathText(path).startsWith(one));
  if (step.do === 'open' && place !== undefined)
    found.push(mistake(path, 'cannot_work', `${place} may not leave the till`));
  if (step.do === 'repeat' && (step.until === undefined) === (step.while === undefined))
    found.push(mistake(path, 'key_missing', 'needs one of until, while'));
  if (step.do === 'pick' && !JSON.stringify(step.at ?? {}).includes('{picked'))
    found.push(mistake([...path, 'at'], 'cannot_work', 'names no {picked}: it is the same whatever is picked'));
  if (isFields(step.map)) found.push(...ofOurValues(step, step.map, [...path, 'map']));
  return found;
}

const COUNTRIES = { has: (code: string) => /^[A-Z]{2}$/.test(code) && alpha2Of(code) === code, words: [] as string[] };
const among = (words: readonly string[]) => ({ has: (word: string) => words.includes(word), words });
const OUR_VALUES: Readonly<Record<string, { has(word: string): boolean; readonly words: readonly string[] }>> = {
  '{passenger.title}': among(TITLES),
  '{passenger.gender}': among(GENDERS),
  '{passenger.nationality}': COUNTRIES,
  '{adults}': among(['1', '2', '3', '4', '5', '6', '7', '8', '9']),
};

/** Checks that a map's keys are our values, exactly as we write them. */
function ofOurValues(step: Fields, map: Fields, path: Path): Mistake[] {
  const ours = OUR_VALUES[String(step.value ?? step.label)];
  if (!ours) return [];
  return Object.keys(map)
    .filter((word) => !ours.has(word))
    .map((word) => {
      const near = ours.words.length > 0 ? nearest(word, ours.words, 1)[0] : alpha2Of(word.toUpperCase());
      return mistake([...path, word], 'word_unknown', `"${word}" is no value of ${step.value ?? step.label}`, near);
    });
}

const ofTarget = ({ in: outer, find }: Fields, path: Path): Mistake[] =>
  outer !== undefined && isFields(find) && find.frame !== undefined
    ? [mistake([...path, 'find', 'frame'], 'cannot_work', 'is ignored here: the frame belongs to "in"')]
    : [];

/** Readings without which nothing is sold. */
const NEEDED =
  /^(?:search\.(?:out|back)\.read\.(?:flight_number|departs|arrives|duration|price)|fares\.read\.price|till\.total|(?:confirmation|manage)\.read\.booking_reference)$/;

function ofFlight(read: Fields, path: Path): Mistake[] {
  if (!/^search\.(?:out|back)\.read$/.test(pathText(path))) return [];
  const { arrives, duration } = read;
  if (arrives === undefined && duration === undefined)
    return [mistake(path, 'key_missing', 'needs one of arrives, duration')];
  return arrives === undefined || duration === undefined
    ? []
    : [mistake([...path, 'duration'], 'cannot_work', 'is read in place of "arrives": leave one of them out')];
}

function ofReading({ format }: Fields, path: Path): Mistake[] {
  if (typeof format !== 'string' || format.startsWith(FILL_IN)) return [];
  const fault = dateFault(format, READ_TOKENS);
  const at = [...path, 'format'];
  if (fault) return [mistake(at, 'word_unknown', fault.message, fault.nearest)];
  const isTime = /^search\.(out|back)\.read\.(departs|arrives)$/.test(pathText(path));
  return isTime && !/[Hh].*mm|mm.*[Hh]/.test(format)
    ? [mistake(at, 'cannot_work', 'reads no time of day: add HH:mm, or h:mm A')]
    : [];
}

const fieldsAt = (value: unknown, ...keys: readonly string[]): Fields =>
  keys.reduce<Fields>((at, key) => (isFields(at[key]) ? at[key] : {}), isFields(value) ? value : {});

const listAt = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

function ofSite(recipe: Fields): Mistake[] {
  const { base, hosts, locale, time_zone: timeZone, frame } = fieldsAt(recipe, 'site');
  const found = [frame]
    .flat()
    .flatMap((one) => ofText(String(one), { path: ['site', 'frame'], names: [], hasPassengers: false }));
  const address = typeof base === 'string' && URL.canParse(base) ? new URL(base) : null;
  if (address?.protocol === 'http:' && !isLoopback(address.hostname))
    found.push(mistake(['site', 'base'], 'cannot_work', 'has to be https', `https://${address.host}`));
  for (const [i, host] of listAt(hosts).entries()) {
    const path = ['site', 'hosts', i];
    if (host === address?.host) found.push(mistake(path, 'cannot_work', 'is not needed: it is the host of site.base'));
    else if (listAt(hosts).indexOf(host) < i) found.push(mistake(path, 'cannot_work', 'is listed twice'));
    else if (address?.protocol === 'https:' && /:80$/.test(String(host)))
      found.push(mistake(path, 'cannot_work', 'has to be https', String(host).replace(/:80$/, '')));
  }
  const isKnown = (words: { readonly locale?: string; readonly timeZone?: string }) => {
    try {
      return new Intl.DateTimeFormat(words.locale, { timeZone: words.timeZone }) !== null;
    } catch {
      return false;
    }
  };
  if (typeof locale === 'string' && !locale.startsWith(FILL_IN) && !isKnown({ locale }))
    found.push(mistake(['site', 'locale'], 'word_unknown', `"${locale}" is no language such as en-GB`));
  if (typeof timeZone === 'string' && !timeZone.startsWith(FILL_IN) && !isKnown({ timeZone })) {
    const near = nearest(timeZone, Intl.supportedValuesOf('timeZone'), 1)[0];
    found.push(mistake(['site', 'time_zone'], 'word_unknown', `"${timeZone}" is no time zone`, near));
  }
  return found;
}

function ofRoutes(recipe: Fields): Mistake[] {
  const routes = listAt(fieldsAt(recipe, 'serves').routes);
  const known = new Set(namedAirports().map(({ iata }) => iata));
  const pairs = routes.flatMap((route) =>
    /^(?:[A-Z]{3}|\*)-(?:[A-Z]{3}|\*)$/.test(String(route)) ? [String(route).split('-')] : [],
  );
  const isSold = (from: string, to: string) =>
    pairs.some(([a, b]) => (a === '*' || a === from) && (b === '*' || b === to));
  return routes.flatMap((route, i) => {
    const path = ['serves', 'routes', i];
    const pair = /^([A-Z]{3}|\*)-([A-Z]{3}|\*)$/.exec(String(route));
    if (!pair) return [];
    const [, from = '', to = ''] = pair;
    const strange = [from, to].find((code) => code !== '*' && !known.has(code));
    if (strange !== undefined) return [mistake(path, 'word_unknown', `"${strange}" is no airport that is known here`)];
    if (from === to && from !== '*') return [mistake(path, 'cannot_work', 'begins where it ends')];
    return fieldsAt(recipe, 'search').back !== undefined && !isSold(to, from)
      ? [mistake(path, 'one_way', 'search has "back": list the other direction, too', `${to}-${from}`)]
      : [];
  });
}

/** Checks the rules of the till: only `till.card` fills in the card, and only code presses the button, once. */
function ofCard(recipe: Fields): Mistake[] {
  const till = fieldsAt(recipe, 'till');
  const hasNumber = JSON.stringify(till.card ?? []).includes('{card.number');
  const { code, steps: answers } = fieldsAt(recipe, 'confirmation', 'challenge');
  const isAnswered = JSON.stringify(answers ?? []).includes('{challenge.code');
  const { frame: outer = null } = fieldsAt(recipe, 'site');
  const framed = (target: unknown): unknown => {
    if (!isFields(target)) return target;
    return 'in' in target ? { ...target, in: framed(target.in) } : { frame: outer, ...target };
  };
  const steps = [
    ...stepsIn(till.steps, ['till', 'steps']),
    ...stepsIn(till.card, ['till', 'card']),
    ...stepsIn(answers, ['confirmation', 'challenge', 'steps']),
    ...listAt(recipe.walls).flatMap((wall, i) => stepsIn(fieldsAt(wall).steps, ['walls', i, 'steps'])),
  ];
  return [
    ...(Array.isArray(till.card) && !hasNumber
      ? [mistake(['till', 'card'], 'cannot_work', 'fills in no card number')]
      : []),
    ...(code !== undefined && !isAnswered
      ? [
          mistake(
            ['confirmation', 'challenge', 'steps'],
            'cannot_work',
            'use no {challenge.code}, so that the code goes nowhere',
          ),
        ]
      : []),
    ...steps
      // In `till.card` the button is on the page, so that a part of its words fits it, too.
      .filter(
        ({ step, path }) => CLICKS.has(String(step.do)) && fits(framed(step.at), framed(till.pay), path[1] === 'card'),
      )
      .map(({ path }) => mistake([...path, 'at'], 'pays', 'a step clicks till.pay, which code alone presses, once')),
  ];
}

const CLICKS: ReadonlySet<string> = new Set(['click', 'tick', 'untick', 'untick_all', 'pick']);

interface PlacedStep {
  readonly step: Fields;
  readonly path: Path;
}

const stepsIn = (steps: unknown, path: Path): PlacedStep[] =>
  listAt(steps).flatMap((step, i) => {
    if (!isFields(step)) return [];
    const at = [...path, i];
    return [
      { step, path: at },
      ...stepsIn(step.steps, [...at, 'steps']),
      ...stepsIn(step.otherwise, [...at, 'otherwise']),
    ];
  });

/** True if a target certainly fits the pay button, however it is written; a visit compares the elements, too. */
function fits(at: unknown, pay: unknown, byPart: boolean): boolean {
  if (!isFields(at) || !isFields(pay)) return false;
  if ('in' in at) return 'in' in pay && fits(at.in, pay.in, byPart) && fits(at.find, pay.find, byPart);
  const button = 'in' in pay && isFields(pay.find) ? pay.find : pay;
  if (String(at.frame ?? '') !== String(('in' in pay ? fieldsAt(pay, 'in') : pay).frame ?? '')) return false;
  const [one, other] = [wordsIn(at), wordsIn(button)];
  if (one.role !== null && other.role !== null && one.role !== other.role) return false;
  if (one.css !== null || other.css !== null) return one.css !== null && one.css === other.css;
  if (one.words === null || other.words === null) return one.words === other.words && one.role === other.role;
  const [part, whole] = [one.words.toLowerCase(), other.words.toLowerCase()];
  return part === whole || (byPart && !one.isExact && whole.includes(part));
}

/** A target's role and visible words. `css` is set if only its selector is known. */
function wordsIn(target: Fields) {
  const { role, name, text, label, placeholder, test_id: testId, css } = target;
  const said = /^(?:button|a)?:(has-text|text|text-is)\(\s*(["'])(.*)\2\s*\)$|^text=(["']?)(.*)\4$/.exec(
    String(css ?? ''),
  );
  const words = said ? (said[3] ?? said[5] ?? '') : (name ?? text ?? label ?? placeholder ?? null);
  const other =
    css !== undefined && !said ? String(css).replace(/\s+/g, ' ').trim() : testId && `[data-testid=${testId}]`;
  return {
    role: role === undefined ? (said && /^button/.test(String(css)) ? 'button' : null) : String(role),
    words: words === null ? null : String(words),
    css: typeof other === 'string' ? other : null,
    isExact: said ? said[1] === 'text-is' || said[4] !== '' : target.exact === true,
  };
}

const FIELDS: readonly string[] = [...BASE_FIELDS, ...DOCUMENT_FIELDS];

/** Checks maps that lead to our own words. */
function ofFlags(recipe: Fields): Mistake[] {
  const read = fieldsAt(recipe, 'fares', 'read');
  const flags = ['change_allowed', 'refund_allowed'].flatMap((name): Mistake[] => {
    const path = ['fares', 'read', name];
    if (!isFields(read[name])) return [];
    const { map } = read[name];
    if (!isFields(map)) return [mistake([...path, 'map'], 'key_missing', 'is missing: it says true, false or null')];
    return Object.entries(map)
      .filter(([, value]) => value !== null && typeof value !== 'boolean')
      .map(([word]) => mistake([...path, 'map', word], 'value_wrong', 'has to be true, false or null'));
  });
  const fields = Object.entries(fieldsAt(recipe, 'rejected', 'field', 'map')).flatMap(([word, value]) =>
    FIELDS.includes(String(value)) || value === 'other'
      ? []
      : [
          mistake(
            ['rejected', 'field', 'map', word],
            'word_unknown',
            `${JSON.stringify(value)} is no field of a passenger`,
            nearest(String(value), FIELDS, 1)[0],
          ),
        ],
  );
  return [...flags, ...fields];
}
