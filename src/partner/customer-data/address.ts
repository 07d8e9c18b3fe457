import { alpha2Of } from '../../kernel/domain/countries.ts';
import { country } from './identity.ts';
import { line } from './text.ts';
import { type Findings, isWrong, normal, type Verdict, wrong } from './verdict.ts';

interface Address {
  readonly streetLine1: string;
  readonly streetLine2?: string | undefined;
  readonly city: string;
  readonly postalCode?: string | undefined;
  readonly country: string;
  readonly subdivision?: string | undefined;
}

/** A postal code by the form of its country; `countryAlpha3` is empty when the country was refused. */
function postalCode(text: string, countryAlpha3: string): Verdict {
  const code = text.trim().replace(/\s+/g, ' ').toUpperCase();
  const form = POSTAL_CODES[countryAlpha3] ?? /^(?=.*[A-Z0-9])[A-Z0-9 -]{2,12}$/;
  // Many write the country in front, as D-10115 or SE-111 22.
  const bare = code.replace(/^[A-Z]{1,3}-(?=\d)/, '');
  const kept = [code, bare].find((one) => form.test(one));
  return kept === undefined ? wrong('is not a postal code of that country.') : normal(kept);
}

/**
 * A state or province: a name, or a code. A code with its country in front (ISO 3166-2) is of the address's country, and
 * of that country's list where there is one; so is a bare one that is written like the codes of such a list.
 */
function subdivision(text: string, countryAlpha3: string): Verdict {
  const plain = text.trim().replace(/[‐‑–]/g, '-');
  const written = /^(?:([A-Z]{2})-)?([A-Z0-9]{1,3})$/.exec(isOneCase(plain) ? plain.toUpperCase() : '');
  const [, prefix, code = ''] = written ?? [];
  if (prefix !== undefined && countryAlpha3 !== '' && alpha2Of(countryAlpha3) !== prefix)
    return wrong('is a state or province of another country.');
  const list = SUBDIVISIONS[countryAlpha3];
  if (written === null || list === undefined) return line(prefix === undefined ? text : plain.toUpperCase(), 100);
  const isCode = prefix !== undefined || [...list].some((one) => one.length === code.length);
  if (isCode && !list.has(code)) return wrong('is not a code of a state or province of that country.');
  return isCode ? normal(written[0]) : line(text, 100);
}

/** `US-CA` and `us-ca` are codes; `Al-Jof` is a name. */
const isOneCase = (text: string): boolean => text === text.toUpperCase() || text === text.toLowerCase();

/** A home address; streets and cities are in any script. Kept with its country as alpha-3. */
export function checkAddress(address: Address, at: string, found: Findings): Address {
  const verdict = country(address.country);
  const alpha3 = isWrong(verdict) ? '' : verdict.normal;
  found.take(`${at}.country`, verdict);
  if (address.postalCode === undefined && POSTAL_CODES[alpha3] !== undefined) {
    found.wrong(`${at}.postalCode`, 'is missing: every address in that country has one.');
  }
  return {
    streetLine1: found.take(`${at}.streetLine1`, line(address.streetLine1, 200)),
    ...(address.streetLine2 !== undefined && {
      streetLine2: found.take(`${at}.streetLine2`, line(address.streetLine2, 200)),
    }),
    city: found.take(`${at}.city`, line(address.city, 100)),
    ...(address.postalCode !== undefined && {
      postalCode: found.take(`${at}.postalCode`, postalCode(address.postalCode, alpha3)),
    }),
    country: alpha3,
    ...(address.subdivision !== undefined && {
      subdivision: found.take(`${at}.subdivision`, subdivision(address.subdivision, alpha3)),
    }),
  };
}

/**
 * Postal codes whose form is fixed, by alpha-3 country, for countries where every address has one. Elsewhere a code
 * is taken when it has 2 to 12 letters, digits, spaces and hyphens, and may be left out.
 */
const POSTAL_CODES: Readonly<Record<string, RegExp>> = {
  AUS: /^\d{4}$/,
  AUT: /^[1-9]\d{3}$/,
  BEL: /^[1-9]\d{3}$/,
  BRA: /^\d{5}-?\d{3}$/,
  CAN: /^[ABCEGHJ-NPRSTVXY]\d[ABCEGHJ-NPRSTV-Z][ -]?\d[ABCEGHJ-NPRSTV-Z]\d$/i,
  CHE: /^[1-9]\d{3}$/,
  CZE: /^\d{3} ?\d{2}$/,
  DEU: /^\d{5}$/,
  DNK: /^\d{3,4}$/,
  ESP: /^(0[1-9]|[1-4]\d|5[0-2])\d{3}$/,
  FIN: /^\d{5}$/,
  FRA: /^\d{2} ?\d{3}$/,
  GBR: /^(GIR ?0AA|[A-Z]{1,2}\d[A-Z\d]? ?\d[A-Z]{2})$/i,
  GRC: /^\d{3} ?\d{2}$/,
  HUN: /^\d{4}$/,
  IND: /^[1-9]\d{2} ?\d{3}$/,
  ITA: /^\d{5}$/,
  JPN: /^\d{3}-?\d{4}$/,
  MEX: /^\d{5}$/,
  NLD: /^[1-9]\d{3} ?[A-Z]{2}$/i,
  NOR: /^\d{4}$/,
  NZL: /^\d{4}$/,
  POL: /^\d{2}-?\d{3}$/,
  PRT: /^\d{4}(-?\d{3})?$/,
  SGP: /^\d{6}$/,
  SWE: /^\d{3} ?\d{2}$/,
  TUR: /^\d{5}$/,
  USA: /^\d{5}([ -]?\d{4})?$/,
};

const codes = (list: string): ReadonlySet<string> => new Set(list.split(' '));

/**
 * ISO 3166-2: the codes of states and provinces, without the country in front, by alpha-3 country. The countries whose
 * addresses are written with them, or that partners are for; of India with the codes from before 2023 too. Of other
 * countries only the form is checked.
 */
const SUBDIVISIONS: Readonly<Record<string, ReadonlySet<string>>> = {
  ARG: codes('A B C D E F G H J K L M N P Q R S T U V W X Y Z'),
  AUS: codes('ACT NSW NT QLD SA TAS VIC WA'),
  AUT: codes('1 2 3 4 5 6 7 8 9'),
  BRA: codes('AC AL AM AP BA CE DF ES GO MA MG MS MT PA PB PE PI PR RJ RN RO RR RS SC SE SP TO'),
  CAN: codes('AB BC MB NB NL NS NT NU ON PE QC SK YT'),
  CHE: codes('AG AI AR BE BL BS FR GE GL GR JU LU NE NW OW SG SH SO SZ TG TI UR VD VS ZG ZH'),
  COL: codes(
    'AMA ANT ARA ATL BOL BOY CAL CAQ CAS CAU CES CHO COR CUN DC GUA GUV HUI LAG MAG MET NAR NSA PUT QUI RIS SAN SAP ' +
      'SUC TOL VAC VAU VID',
  ),
  DEU: codes('BB BE BW BY HB HE HH MV NI NW RP SH SL SN ST TH'),
  IND: codes(
    'AN AP AR AS BR CG CH CT DD DH DL DN GA GJ HP HR JH JK KA KL LA LD MH ML MN MP MZ NL OD OR PB PY RJ SK TG TN TR ' +
      'TS UK UP UT WB',
  ),
  JPN: new Set(Array.from({ length: 47 }, (_, index) => String(index + 1).padStart(2, '0'))),
  MEX: codes(
    'AGU BCN BCS CAM CHH CHP CMX COA COL DUR GRO GUA HID JAL MEX MIC MOR NAY NLE OAX PUE QUE ROO SIN SLP SON TAB TAM ' +
      'TLA VER YUC ZAC',
  ),
  NGA: codes(
    'AB AD AK AN BA BE BO BY CR DE EB ED EK EN FC GO IM JI KD KE KN KO KT KW LA NA NI OG ON OS OY PL RI SO TA YO ZA',
  ),
  USA: codes(
    'AK AL AR AS AZ CA CO CT DC DE FL GA GU HI IA ID IL IN KS KY LA MA MD ME MI MN MO MP MS MT NC ND NE NH NJ NM NV ' +
      'NY OH OK OR PA PR RI SC SD TN TX UM UT VA VI VT WA WI WV WY',
  ),
};
