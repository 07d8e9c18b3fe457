import * as z from 'zod';
import { published } from '../../spec/published.ts';

export const mcp = published(
  z.never().describe('It speaks the Model Context Protocol on its streams, and prints no document.'),
);
