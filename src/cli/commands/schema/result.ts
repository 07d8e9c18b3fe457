import * as z from 'zod';
import { published } from '../../spec/published.ts';

export const schema = published(
  z.looseObject({ $schema: z.string(), $id: z.string(), title: z.string() }).describe('A JSON Schema.'),
  {
    others: { names: z.strictObject({ schemas: z.array(z.string()) }).describe('Without a command: those there are.') },
  },
);
