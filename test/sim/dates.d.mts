export interface CalendarDate {
  readonly name: string;
  readonly ms: number;
}

export function calendarDates(nowMs: number): CalendarDate[];
