/** The codes of cities with several airports, or with one that has a code of its own: IATA's metropolitan areas. */
interface MetropolitanArea {
  readonly code: string;
  readonly city: string;
  /** IATA codes, the largest first. Not all of them are in our table. */
  readonly airports: readonly string[];
}

/** Only codes that are not those of an airport too: SHA, HOU or BKK means the airport. */
const AREAS: Readonly<Record<string, readonly [city: string, airports: string]>> = {
  BAK: ['Baku', 'GYD'],
  BJS: ['Beijing', 'PEK PKX'],
  BUE: ['Buenos Aires', 'EZE AEP'],
  BUH: ['Bucharest', 'OTP BBU'],
  CHI: ['Chicago', 'ORD MDW'],
  DTT: ['Detroit', 'DTW'],
  JKT: ['Jakarta', 'CGK HLP'],
  LON: ['London', 'LHR LGW STN LTN LCY SEN'],
  MIL: ['Milan', 'MXP LIN BGY'],
  MOW: ['Moscow', 'SVO DME VKO'],
  NYC: ['New York', 'JFK EWR LGA'],
  OSA: ['Osaka', 'KIX ITM UKB'],
  PAR: ['Paris', 'CDG ORY BVA'],
  REK: ['Reykjavík', 'KEF RKV'],
  RIO: ['Rio de Janeiro', 'GIG SDU'],
  ROM: ['Rome', 'FCO CIA'],
  SAO: ['São Paulo', 'GRU CGH VCP'],
  SEL: ['Seoul', 'ICN GMP'],
  SPK: ['Sapporo', 'CTS OKD'],
  STO: ['Stockholm', 'ARN BMA NYO'],
  TCI: ['Tenerife', 'TFS TFN'],
  TYO: ['Tokyo', 'HND NRT'],
  WAS: ['Washington', 'IAD DCA BWI'],
  YMQ: ['Montréal', 'YUL'],
  YTO: ['Toronto', 'YYZ YTZ'],
};

/** The area of a code in capitals, or null for any other text. */
export function metropolitanArea(code: string): MetropolitanArea | null {
  if (!Object.hasOwn(AREAS, code)) return null;
  const [city, airports] = AREAS[code] ?? ['', ''];
  return { code, city, airports: airports.split(' ') };
}

/** The area of a city by its English name; null for a city without a code of its own. */
export function areaOfCity(name: string): MetropolitanArea | null {
  const code = Object.keys(AREAS).find((one) => AREAS[one]?.[0].toLowerCase() === name.toLowerCase());
  return code === undefined ? null : metropolitanArea(code);
}

export const METROPOLITAN_CODES: readonly string[] = Object.keys(AREAS);
