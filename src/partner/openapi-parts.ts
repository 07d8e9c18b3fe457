import { PROBLEMS, type ProblemCode, type ProblemKind } from '../kernel/problems.ts';

export const REQUEST_ID = {
  'X-Request-Id': { schema: { type: 'string' }, description: 'Quote it when you ask.' },
};

export const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });
export const json = (schema: object) => ({ 'application/json': { schema } });

/** One response per status; its reasons are listed, so that a client can be generated that knows them. */
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
        headers: {
          ...REQUEST_ID,
          ...(status === 405 ? { Allow: { schema: { type: 'string' } } } : {}),
          ...(status === 503
            ? { 'Retry-After': { schema: { type: 'integer' }, description: 'Seconds.' } }
            : {}),
        },
        content: json(schema(listed)),
      },
    ]),
  );
}
