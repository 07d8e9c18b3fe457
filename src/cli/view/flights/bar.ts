import type { Paint } from '../../../terminal/paint.ts';
import { durationMinutes, localMinutes } from '../../../terminal/times.ts';
import type { Slice } from '../../../wire/flights/index.ts';

/**
 * A direction on one time scale: legs and layovers in minutes since a common beginning, by the clock of the
 * origin. Only durations and differences at one airport are used, so that no time zone has to be known.
 */
export interface Timeline {
  readonly start: number;
  readonly parts: readonly { readonly kind: 'leg' | 'layover'; readonly minutes: number }[];
}

export function timelineOf(slice: Slice): Timeline {
  const parts: { kind: 'leg' | 'layover'; minutes: number }[] = [];
  for (const [index, segment] of slice.segments.entries()) {
    const before = slice.segments[index - 1];
    if (before) {
      const wait = localMinutes(segment.departing_at) - localMinutes(before.arriving_at);
      parts.push({ kind: 'layover', minutes: Math.max(0, wait) });
    }
    parts.push({ kind: 'leg', minutes: durationMinutes(segment.duration) });
  }
  return { start: localMinutes(slice.departing_at), parts };
}

export interface Scale {
  readonly from: number;
  readonly to: number;
}

const endOf = (timeline: Timeline): number =>
  timeline.parts.reduce((at, part) => at + part.minutes, timeline.start);

/** The whole hours that hold every timeline. */
export function scaleOf(timelines: readonly Timeline[]): Scale {
  const from = Math.floor(Math.min(...timelines.map((timeline) => timeline.start)) / 60) * 60;
  const to = Math.ceil(Math.max(...timelines.map(endOf)) / 60) * 60;
  return { from, to: Math.max(to, from + 60) };
}

function spansOf(timeline: Timeline): { kind: 'leg' | 'layover'; from: number; to: number }[] {
  let at = timeline.start;
  return timeline.parts.map(({ kind, minutes }) => {
    const from = at;
    at += minutes;
    return { kind, from, to: at };
  });
}

const LEG = '━';
const LAYOVER = '╌';

/** A bar of exactly `cells` cells. Every leg and every layover shows, however short. */
export function barText(timeline: Timeline, scale: Scale, cells: number, paint: Paint): string {
  const kinds: ('leg' | 'layover' | null)[] = Array.from({ length: cells }, () => null);
  const cellAt = (minute: number) =>
    Math.min(cells - 1, Math.max(0, Math.floor(((minute - scale.from) / (scale.to - scale.from)) * cells)));
  const spans = spansOf(timeline);
  for (const { kind, from, to } of spans) {
    if (kind !== 'leg') continue;
    for (let cell = cellAt(from); cell <= cellAt(Math.max(from, to - 1)); cell++) kinds[cell] = 'leg';
  }
  for (const { kind, from, to } of spans) {
    if (kind !== 'layover') continue;
    for (let cell = cellAt(from); cell <= cellAt(to); cell++) kinds[cell] ??= 'layover';
    kinds[cellAt((from + to) / 2)] = 'layover';
  }
  return kinds
    .map((kind) => (kind === 'leg' ? paint.accent(LEG) : kind === 'layover' ? paint.dim(LAYOVER) : ' '))
    .join('');
}

/** Hours of the origin's day over the bars: as many as fit without touching. */
export function axisText(scale: Scale, cells: number): string {
  const hours = (scale.to - scale.from) / 60;
  const step = [1, 2, 3, 6, 12, 24].find((each) => (cells / hours) * each >= 4) ?? 24;
  const text = Array.from({ length: cells }, () => ' ');
  for (let hour = Math.ceil(scale.from / 60 / step) * step; hour * 60 < scale.to; hour += step) {
    const cell = Math.floor(((hour * 60 - scale.from) / (scale.to - scale.from)) * cells);
    const said = String(((hour % 24) + 24) % 24).padStart(2, '0');
    if (cell + 2 <= cells && text[cell - 1] !== said[1]) text.splice(cell, 2, ...said);
  }
  return text.join('').slice(0, cells);
}
