import table from './countries.json' with { type: 'json' };

/** ISO 3166-1 alpha-3 codes by alpha-2. */
const COUNTRIES: Readonly<Record<string, string>> = table;

export const alpha2Codes = (): string[] => Object.keys(COUNTRIES);
export const alpha3Codes = (): string[] => Object.values(COUNTRIES);

/** Accepts alpha-2 or alpha-3 in upper case. */
export const alpha2Of = (code: string): string | null =>
  Object.hasOwn(COUNTRIES, code) ? code : (alpha2Codes().find((alpha2) => COUNTRIES[alpha2] === code) ?? null);

export const alpha3Of = (code: string): string | null => COUNTRIES[alpha2Of(code) ?? ''] ?? null;

export const isCountry = (code: string): boolean => alpha2Of(code) !== null;
