/** Checks that the text is YYYY-MM-DD and a day that exists. */
export function isRealDate(text: string): boolean {
  if (!/^\d{4}-\d\d-\d\d$/.test(text)) return false;
  const day = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(day.getTime()) && day.toISOString().slice(0, 10) === text;
}

/** YYYY-MM-DD of an instant in an IANA zone. */
export const localDate = (ms: number, timeZone: string): string =>
  new Intl.DateTimeFormat('en-CA', { timeZone, year: 'numeric', month: '2-digit', day: '2-digit' }).format(ms);

/** The same day some years later; also one that its year does not have: dates of this form compare as text. */
export const yearsLater = (date: string, years: number): string =>
  `${String(Number(date.slice(0, 4)) + years).padStart(4, '0')}${date.slice(4)}`;
