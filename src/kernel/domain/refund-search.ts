interface Request {
  readonly request_id: string;
  readonly intent_id: string;
  readonly booking_reference: string | null;
  readonly route: string;
  readonly journey_date: string;
}

/** Text as it is searched: case, width and the arrow of a route make no difference. */
export const searchable = (text: string): string =>
  text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/ *(?:→|->) */g, '-')
    .replace(/\s+/g, ' ')
    .trim();

/** True when one of these fields has the `searchable` text. */
export const isFound = (one: Request, wanted: string): boolean =>
  [one.booking_reference ?? '', one.intent_id, one.request_id, one.route, one.journey_date].some((field) =>
    field.toLowerCase().includes(wanted),
  );
