import { type HttpResponse, json } from '../../kernel/http.ts';
import { invalid } from './errors.ts';
import type { Asked } from './sandbox.ts';

const USUAL = 50;
const MOST = 200;

/** One page of a list by the cursors of the query. @throws ApiError for a limit or cursor that is none */
export function page<T>({ search }: Asked, list: readonly T[], shown: (one: T) => object): HttpResponse {
  const limit = Number(search.get('limit') ?? USUAL);
  if (!Number.isInteger(limit) || limit < 1 || limit > MOST)
    throw invalid([{ at: 'limit', code: 'validation_inclusion', message: `must be between 1 and ${MOST}` }]);
  const after = positionOf(search.get('after'));
  const before = positionOf(search.get('before'));
  const start = before === null ? (after ?? 0) : Math.max(0, before - limit);
  const end = Math.min(list.length, before ?? start + limit);
  return json({
    data: list.slice(start, end).map(shown),
    meta: { limit, after: end < list.length ? cursorOf(end) : null, before: start > 0 ? cursorOf(start) : null },
  });
}

const cursorOf = (position: number): string => Buffer.from(`sandbox:${position}`).toString('base64url');

function positionOf(cursor: string | null): number | null {
  if (cursor === null || cursor === '') return null;
  const [, position] = /^sandbox:(\d{1,7})$/.exec(Buffer.from(cursor, 'base64url').toString()) ?? [];
  if (position === undefined)
    throw invalid([{ at: 'after', code: 'validation_format', message: 'is not a cursor of this list' }]);
  return Number(position);
}

/** True for a time that lies in what `created_at[after]` and `created_at[before]` ask for. */
export function wasCreated({ search }: Asked, atMs: number): boolean {
  const bound = (name: string) => {
    const text = search.get(`created_at[${name}]`);
    const ms = text === null ? Number.NaN : Date.parse(text);
    if (text !== null && Number.isNaN(ms))
      throw invalid([{ at: `created_at[${name}]`, code: 'validation_format', message: 'is not an ISO 8601 datetime' }]);
    return ms;
  };
  return !(atMs < bound('after')) && !(atMs > bound('before'));
}
