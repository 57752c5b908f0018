// The part of the schema for people.
import { z } from 'zod'
import { ROLES } from '../../contract/index.ts'
import { id, text } from './words.ts'

export const userSchema = z
  .strictObject({
    id: id('The id of a user'),
    identities: z
      .array(text('integration:sender').regex(/^[^:]+:.+$/, { error: 'expected integration:sender' }))
      .default([])
      .describe('Who this person is on the platforms: integration:sender.'),
    notify_to: text('integration:conversation; default: the user’s direct chat.').optional(),
    roles: z.array(z.enum(ROLES)).default([]).describe('What this person may do.'),
  })
  .describe(
    'One person. With none configured there is one user, local: the person who holds the command line.',
  )
