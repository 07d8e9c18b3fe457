import { PROBLEMS, type ProblemCode, type ProblemKind } from '../kernel/problems.ts';

/** What both services' descriptions of themselves are put together from. */

export const REQUEST_ID = {
  'X-Request-Id': { schema: { type: 'string' }, description: 'Quote it when you ask.' },
};

export const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });
export const json = (schema: object) => ({ 'application/json': { schema } });

/**
 * One response per status; its codes are listed, so that a client can be generated that knows them.
 * @param schema the body of the answers that these codes share
 */
export function failures(
  codes: readonly ProblemCode[],
  schema: (listed: readonly ProblemCode[]) => object,
): Record<string, object> {
  const byStatus = new Map<number, ProblemCode[]>();
  for (const code of new Set(codes)) {
    const status = (PROBLEMS[code] as ProblemKind).status ?? 500;
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  return Object.fromEntries(
    [...byStatus].map(([status, listed]) => [
      String(status),
      {
        description: listed.map((code) => `\`${code}\`: ${PROBLEMS[code].message}`).join('\n\n'),
        headers: { ...REQUEST_ID, ...headersOf(status) },
        content: json(schema(listed)),
      },
    ]),
  );
}

function headersOf(status: number): object {
  if (status === 405) return { Allow: { schema: { type: 'string' } } };
  return status === 503 || status === 429
    ? { 'Retry-After': { schema: { type: 'integer' }, description: 'Seconds.' } }
    : {};
}
