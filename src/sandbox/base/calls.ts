import type { Call, Route, RouteTable } from '../../http/index.ts';

/** Every status that a double may answer with: what it was made to answer decides. */
const ANSWERS = Object.fromEntries(
  [200, 201, 202, 204, 307, 400, 401, 403, 404, 405, 413, 415, 422, 429, 444, 500, 502, 503, 504].map((status) => [
    status,
    { description: 'As the original, or as the switches say.' },
  ]),
);

/** The route table of a double, from its calls by method and path: `GET /air/orders/{id}`. */
export const tableOf = <C>(calls: Readonly<Record<string, (call: Call<C>) => Promise<object>>>): RouteTable<C> => ({
  unknown: 'not_found',
  routes: Object.entries(calls).map(([place, run]) => {
    const [method, path = ''] = place.split(' ');
    return {
      method: method as Route<C>['method'],
      path,
      id: place,
      summary: place,
      answers: ANSWERS,
      codes: ['payload_too_large', 'body_incomplete', 'unsupported_media_type'],
      run,
    };
  }),
});
