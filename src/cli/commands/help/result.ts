import * as z from 'zod';
import { published } from '../../spec/published.ts';

const shape = z
  .strictObject({
    type: z.enum(['integer', 'string']),
    minimum: z.number().optional(),
    maximum: z.number().optional(),
    pattern: z.string().optional(),
    enum: z.array(z.string()).optional(),
  })
  .describe('JSON Schema of the value.');

const parameter = z.strictObject({
  name: z.string(),
  short: z.string().optional(),
  description: z.string(),
  required: z.boolean(),
  repeated: z.boolean(),
  value: shape.nullable().describe('null: a switch, which takes no value.'),
  value_optional: z.literal(true).optional(),
  default: z.union([z.string(), z.number(), z.boolean()]).optional(),
});

const command = z.strictObject({
  name: z.string(),
  description: z.string(),
  effect: z.enum(['reads', 'pays', 'changes', 'local', 'runs']),
  arguments: z.array(parameter),
  options: z.array(parameter),
  examples: z.array(z.string()),
});

export const help = published(
  z.strictObject({
    name: z.string(),
    version: z.string(),
    description: z.string(),
    global_options: z.array(parameter),
    commands: z.array(command),
  }),
);
