import table from './countries.json' with { type: 'json' };

/** ISO 3166-1: the alpha-3 code of every country by its alpha-2 code. */
const COUNTRIES: Readonly<Record<string, string>> = table;

export const alpha2Codes = (): string[] => Object.keys(COUNTRIES);
export const alpha3Codes = (): string[] => Object.values(COUNTRIES);

/** The alpha-2 code of a country given as alpha-2 or alpha-3, upper case; null for any other text. */
export const alpha2Of = (code: string): string | null =>
  Object.hasOwn(COUNTRIES, code) ? code : (alpha2Codes().find((alpha2) => COUNTRIES[alpha2] === code) ?? null);

/** The alpha-3 code of a country given as alpha-2 or alpha-3, upper case; null for any other text. */
export const alpha3Of = (code: string): string | null => COUNTRIES[alpha2Of(code) ?? ''] ?? null;

/** Recognises an ISO 3166-1 alpha-2 or alpha-3 code in upper case. */
export const isCountry = (code: string): boolean => alpha2Of(code) !== null;
