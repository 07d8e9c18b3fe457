interface Request {
  readonly request_id: string;
  readonly intent_id: string;
  readonly booking_reference: string | null;
  readonly route: string;
  readonly journey_date: string;
}

/** Folds text for the search: case, width and the arrow of a route make no difference. */
export const searchable = (text: string): string =>
  text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/ *(?:→|->) */g, '-')
    .replace(/\s+/g, ' ')
    .trim();

/** True if a field contains the `searchable` text. A route also matches with a space, a date also as `7 Dec`. */
export function isFound(one: Request, wanted: string): boolean {
  const { booking_reference, intent_id, request_id, route, journey_date } = one;
  const day = new Date(journey_date).toUTCString().slice(5, 16).replace(/^0/, '');
  return (
    [booking_reference ?? '', intent_id, request_id, route, route.replace('-', ' '), journey_date].some((field) =>
      field.toLowerCase().includes(wanted),
    ) || ` ${day}`.toLowerCase().includes(` ${wanted}`)
  );
}
