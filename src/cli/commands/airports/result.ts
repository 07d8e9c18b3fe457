import * as z from 'zod';
import { published } from '../../spec/published.ts';

const airport = z.strictObject({
  iata: z.string().regex(/^[A-Z]{3}$/),
  name: z.string(),
  city: z.string(),
  country: z.string().describe('ISO 3166-1 alpha-2.'),
  time_zone: z.string().describe('IANA zone.'),
});

export const airports = published(z.strictObject({ airports: z.array(airport) }));

export type ListedAirport = z.infer<typeof airport>;
