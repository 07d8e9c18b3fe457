import { alpha2Codes, isCountry } from '../../kernel/domain/countries.ts';

/** Languages that are spoken where passports are given out; the names come with Node (Unicode CLDR). */
const LANGUAGES =
  'en af am ar az be bg bn bs ca cs cy da de el es et eu fa fi fil fr ga gl gu he hi hr hu hy id is it ja ka kk km kn ' +
  'ko ky lb lo lt lv mk ml mn mr ms mt my nb ne nl pa pl ps pt ro ru si sk sl so sq sr sv sw ta te tg th ti tk to tr ' +
  'uk ur uz vi zh zh-Hant zu';

/** What people say, and the lists of names do not. */
const ALSO: Readonly<Record<string, string>> = {
  america: 'US',
  britain: 'GB',
  burma: 'MM',
  'cape verde': 'CV',
  'czech republic': 'CZ',
  'east timor': 'TL',
  england: 'GB',
  'great britain': 'GB',
  'ivory coast': 'CI',
  macedonia: 'MK',
  'northern ireland': 'GB',
  'republic of ireland': 'IE',
  'russian federation': 'RU',
  scotland: 'GB',
  swaziland: 'SZ',
  turkey: 'TR',
  'united states of america': 'US',
  vatican: 'VA',
  wales: 'GB',
};

/**
 * The code of a country: from its alpha-2 or alpha-3 code in any case, which stays the one that was given, or from its
 * name, in English or another language, as alpha-2; null where no country or more than one is called so.
 */
export function countryNamed(text: string): string | null {
  const code = text.trim().toUpperCase();
  if (isCountry(code)) return code;
  const wanted = folded(text);
  if (wanted === '') return null;
  const known = ALSO[wanted] ?? codeIn('en', wanted) ?? codeIn('en', wanted, 'short');
  if (known !== null) return known;
  const found = new Set(LANGUAGES.split(' ').flatMap((language) => codeIn(language, wanted) ?? []));
  const [only] = found;
  return found.size === 1 && only !== undefined ? only : null;
}

function codeIn(language: string, wanted: string, style: 'long' | 'short' = 'long'): string | null {
  const names = new Intl.DisplayNames([language], { type: 'region', fallback: 'none', style });
  return alpha2Codes().find((code) => folded(names.of(code) ?? '') === wanted) ?? null;
}

/** Without case, punctuation or accents; the vowel signs of other scripts stay. */
const folded = (text: string): string =>
  text
    .normalize('NFKD')
    .replace(/[\u0300-\u036f]/g, '')
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}]+/gu, ' ')
    .trim();
