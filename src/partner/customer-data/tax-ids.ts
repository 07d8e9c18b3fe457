import { countryAlpha3 } from './identity.ts';
import { AMERICAS } from './tax-ids-americas-table.ts';
import { EUROPE } from './tax-ids-europe-table.ts';
import { OTHERS } from './tax-ids-others-table.ts';
import { line, ungrouped, withoutBracket } from './text.ts';
import { type Findings, isWrong, normal, type Verdict, wrong } from './verdict.ts';

export const TAX_RULES = { ...AMERICAS, ...EUROPE, ...OTHERS };

/** Kinds that say no more than "the tax number of that country". */
const GENERAL = ['', 'TIN', 'TAX_ID', 'TAXID'];

/** Other names of a listed kind. */
const SAME_AS: Readonly<Record<string, string>> = {
  IDNR: 'STEUER_ID',
  STEUERID: 'STEUER_ID',
  STEUER_IDENTIFIKATIONSNUMMER: 'STEUER_ID',
  CF: 'CODICE_FISCALE',
  NUMERO_FISCAL: 'SPI',
  NATIONAL_INSURANCE_NUMBER: 'NINO',
};

/** Names that mean the number of one country alone; others (DNI, NIF, RUC, SSN) are used by many. */
const ONE_COUNTRY =
  'ITIN EIN CPF CNPJ RFC CURP CUIT CUIL STEUER_ID SPI SIREN CODICE_FISCALE PARTITA_IVA BSN PESEL ' +
  'UTR NINO PPS AHV HETU TCKN BVN TFN';

/** Places whose people have numbers of another country's tax office, or of their own. */
const SHARES: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries({
    AUS: 'CCK CXR NFK',
    CHE: 'LIE',
    FIN: 'ALA',
    FRA: 'BLM GLP GUF MAF MTQ MYT NCL PYF REU SPM WLF',
    GBR: 'GGY IMN JEY',
    ITA: 'SMR VAT',
    USA: 'ASM GUM MNP PRI VIR',
  }).flatMap(([country, places]) => places.split(' ').map((place) => [place, country])),
);

interface TaxId {
  readonly country: string;
  readonly type?: string | undefined;
  readonly number: string;
  readonly customType?: string | undefined;
}

/**
 * A tax number (spec/partner-service.md, Customer data). A kind that is listed for its country is checked by its
 * rule; a general kind (TIN, TAX_ID or none) by any rule of a listed country; every other one, with OTHER naming
 * itself in `customType`, must look like a number of a tax office. A kind that only another country has is refused.
 */
export function checkTaxId(taxId: TaxId, at: string, found: Findings): TaxId {
  const place = countryAlpha3(taxId.country);
  found.take(`${at}.country`, place);
  const named = (taxId.type ?? '')
    .trim()
    .toUpperCase()
    .replace(/[\s-]+/g, '_');
  const kind = SAME_AS[named] ?? named;
  const customType = checkTypes(kind, taxId.customType, at, found);
  const checked = isWrong(place) ? normal('') : taxNumber(taxId.number, place.normal, kind);
  if (isWrong(checked) && checked.wrong === NOT_HERE) found.wrong(`${at}.type`, NOT_HERE);
  return {
    country: taxId.country,
    ...(kind !== '' && { type: kind }),
    number: isWrong(checked) && checked.wrong === NOT_HERE ? '' : found.take(`${at}.number`, checked),
    ...(customType !== undefined && { customType }),
  };
}

const NOT_HERE = 'is a tax id of another country.';

function checkTypes(
  kind: string,
  custom: string | undefined,
  at: string,
  found: Findings,
): string | undefined {
  if (kind !== '' && !/^[A-Z0-9_]{2,40}$/.test(kind)) {
    found.wrong(`${at}.type`, 'must be 2 to 40 letters, digits and underscores.');
  }
  if (custom !== undefined) return found.take(`${at}.customType`, line(custom, 60));
  if (kind === 'OTHER') found.wrong(`${at}.customType`, 'is required with OTHER.');
  return undefined;
}

function taxNumber(text: string, country: string, kind: string): Verdict {
  const code = withoutBracket(ungrouped(text)).toUpperCase();
  const shared = TAX_RULES[SHARES[country] ?? '']?.[kind];
  if (shared && !TAX_RULES[country]?.[kind]) {
    const verdict = shared(code);
    return isWrong(verdict) ? plain(code) : verdict;
  }
  const rules = TAX_RULES[country] ?? {};
  const rule = rules[kind];
  if (rule) return rule(code);
  if (GENERAL.includes(kind)) {
    const verdicts = Object.values(rules).map((one) => one(code));
    const right = verdicts.find((one) => !isWrong(one));
    return (
      right ??
      (verdicts.length > 0 ? wrong(`is no ${Object.keys(rules).join(', ')} of that country.`) : plain(code))
    );
  }
  if (ONE_COUNTRY.split(' ').includes(kind)) return wrong(NOT_HERE);
  return plain(code);
}

/** A kind that nobody listed: 4 to 30 letters and digits, with a digit among them, and not one character repeated. */
const plain = (code: string): Verdict =>
  /^(?=.*\d)(?!(.)\1+$)[A-Z0-9]{4,30}$/.test(code)
    ? normal(code)
    : wrong('must be 4 to 30 letters and digits, at least one of them a digit.');
