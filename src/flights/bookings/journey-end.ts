import { zonedInstant } from '../../kernel/domain/ics.ts';
import type { Slice } from '../../wire/flights/index.ts';

/** When the last flight of a journey has landed, by the clock of its airport; epoch ms. */
export const journeyEndMs = (slices: readonly Slice[]): number =>
  Math.max(
    0,
    ...slices.flatMap(({ segments }) =>
      segments.map((segment) => zonedInstant(segment.arriving_at, segment.destination_time_zone)),
    ),
  );
