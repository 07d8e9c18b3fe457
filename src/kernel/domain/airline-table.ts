import { nearest } from '../nearest.ts';
import ROWS from './airlines.json' with { type: 'json' };
import { ALLIANCES, type Alliance } from './alliances.ts';

const TABLE = new Map<string, (string | null)[]>(Object.entries(ROWS));

export interface AirlineRow {
  readonly name: string;
  readonly alliance: Alliance | null;
  /** The brand of its most restricted fares; null if unknown. */
  readonly basicBrand: string | null;
}

const BY_NAME = new Map([...TABLE.values()].map((row) => [row[0], row]));

export const airlineByCode = (code: string): AirlineRow | null => rowOf(TABLE.get(code));

/** Finds an airline by code or name. Each invented alliance of the sandbox counts as a real one here. */
export const airlineKnown = (codeOrName: string): AirlineRow | null =>
  rowOf(TABLE.get(codeOrName) ?? BY_NAME.get(codeOrName));

function rowOf(row: (string | null)[] | undefined): AirlineRow | null {
  if (!row) return null;
  const [name, alliance, basicBrand = null] = row;
  return { name: name ?? '', alliance: ALLIANCES.find((one) => one === alliance) ?? null, basicBrand };
}

/** Suggests airlines for a mistyped code or name, the best first. */
export function airlinesNear(given: string): { code: string; name: string }[] {
  const all = [...TABLE].map(([code, [name]]) => ({ code, name: String(name) }));
  const byName = nearest(
    given,
    all.map(({ name }) => name),
  ).flatMap((name) => all.find((one) => one.name === name) ?? []);
  if (byName.length > 0 || given.length > 3) return byName;
  return nearest(
    given,
    all.map(({ code }) => code),
  ).flatMap((code) => all.find((one) => one.code === code) ?? []);
}
