import * as z from 'zod';
import { published } from '../../spec/published.ts';

export const completion = published(z.strictObject({ shell: z.enum(['bash', 'zsh', 'fish']), script: z.string() }));
