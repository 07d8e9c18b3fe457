import { counted, dayName, type Screen, textWidth, wrap } from '../../../terminal/index.ts';
import type { DayPrice, DaysDocument } from './prices.ts';

/** The request, for the line above the prices. */
export interface DaysTitle {
  readonly adults: number;
  readonly cabin: string;
  /** `3 days either side`, `December 2026`. */
  readonly span: string;
}

/** The cell that was asked for, and the cheapest one, said apart from colour. */
export const CHEAPEST = '*';

export function titleLines(document: DaysDocument, title: DaysTitle, { paint, width }: Screen): string[] {
  const { origin_iata: from, destination_iata: to, depart_date, return_date } = document;
  const route = `${from} ${return_date ? '⇄' : '→'} ${to}`;
  const days = return_date ? `${dayName(depart_date)} – ${dayName(return_date)}` : dayName(depart_date);
  const facts = [
    title.span,
    counted(title.adults, 'adult'),
    title.cabin.replaceAll('_', ' '),
    `${document.cheapest?.total_currency ?? 'USD'}, ${title.adults === 1 ? 'all in' : 'all travellers'}`,
  ].join(' · ');
  return textWidth(`${route}  ${days}  ${facts}`) <= width
    ? [`${paint.bold(route)}  ${days}  ${paint.dim(facts)}`]
    : [`${paint.bold(route)}  ${days}`, paint.dim(facts)];
}

/** The legend: what the marks mean and why there are gaps, each reason once with its days. */
export function footLines({ days }: DaysDocument, { paint, width }: Screen): string[] {
  const has = (status: DayPrice['status']) => days.some((day) => day.status === status);
  const marks = [
    ...(has('found') ? [`${CHEAPEST} cheapest`] : []),
    '[ ] the days asked for',
    ...(has('none') ? ['– no offers'] : []),
    ...(has('failed') ? ['! failed'] : []),
    ...(has('not_searched') ? ['· not searched'] : []),
  ].join('   ');
  const reasons = new Map<string, string[]>();
  for (const day of days) {
    const why = day.status === 'failed' ? day.error.message : day.status === 'not_searched' ? day.reason : undefined;
    if (why === undefined) continue;
    reasons.set(why, [...(reasons.get(why) ?? []), shortJourney(day)]);
  }
  const slow = days.some((day) => (day.status === 'found' || day.status === 'none') && !day.is_complete);
  const notes = [...reasons].map(
    ([why, where]) => `! ${where.length > 3 ? counted(where.length, 'day') : where.join(', ')}: ${why}`,
  );
  if (slow) notes.push('Slower sellers had not all answered: cheaper offers may exist.');
  return [paint.dim(marks), ...notes.flatMap((note) => wrap(note, width)).map((line) => paint.dim(line))];
}

const shortDay = (date: string): string => dayName(date).split(' ').slice(0, 3).join(' ');

const shortJourney = ({ depart_date, return_date }: DayPrice): string =>
  return_date === null ? shortDay(depart_date) : `${shortDay(depart_date)} – ${shortDay(return_date)}`;
