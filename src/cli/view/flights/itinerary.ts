import type { Screen } from '../../../terminal/terminal.ts';
import { padEnd, textWidth } from '../../../terminal/text.ts';
import { dayName, durationMinutes, fromTo, hoursAndMinutes, localMinutes } from '../../../terminal/times.ts';
import type { Slice } from '../../../wire/flights/index.ts';

/** A direction, leg by leg: local times, airports with terminals, flight and aircraft, the wait between two legs. */
export function sliceLines(slice: Slice, { paint }: Screen): string[] {
  const places = slice.segments.map((segment) => {
    const from = `${segment.origin_iata}${segment.origin_terminal ? ` T${segment.origin_terminal}` : ''}`;
    const to = `${segment.destination_iata}${segment.destination_terminal ? ` T${segment.destination_terminal}` : ''}`;
    return `${from} → ${to}`;
  });
  const width = Math.max(...places.map(textWidth));
  const total = hoursAndMinutes(durationMinutes(slice.duration));
  const lines = [
    `${paint.bold(`${slice.origin_iata} → ${slice.destination_iata}`)}  ${dayName(slice.departing_at)}  ${paint.dim(total)}`,
  ];
  for (const [index, segment] of slice.segments.entries()) {
    const before = slice.segments[index - 1];
    if (before) {
      const wait = localMinutes(segment.departing_at) - localMinutes(before.arriving_at);
      lines.push(paint.dim(`  ╌ ${hoursAndMinutes(wait)} in ${segment.origin_iata}`));
    }
    const operated =
      segment.carrier_name === segment.marketing_carrier_name
        ? segment.carrier_name
        : `${segment.marketing_carrier_name}, operated by ${segment.carrier_name}`;
    const technical =
      segment.technical_stops > 0 ? `technical stop ${segment.technical_stop_airports.join(' ')}` : null;
    const facts = [segment.flight_number, operated, segment.aircraft_name, technical]
      .filter(Boolean)
      .join(' · ');
    lines.push(
      `  ${padEnd(fromTo(segment.departing_at, segment.arriving_at), 13)}  ${padEnd(places[index] ?? '', width)}  ${paint.dim(facts)}`,
    );
  }
  return lines;
}
