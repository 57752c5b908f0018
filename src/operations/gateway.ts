// The gateway as a whole: its state, what is wrong with it, its configuration.
import { z } from 'zod'
import { type Operation, operation } from '../server/api/operation.ts'

const DoctorQuery = z.strictObject({
  security: z.enum(['true', 'false']).optional().describe('Also what is open, and how bad that is.'),
  send_test: z
    .enum(['true', 'false'])
    .optional()
    .describe('With security: integrations also try on the real thing whether a forger would be believed.'),
})
const CheckBody = z.strictObject({ text: z.string().max(1_000_000) })

export const GATEWAY: readonly Operation[] = [
  operation({
    method: 'GET',
    path: '/api/status',
    summary: 'The state of the gateway: links, agents, counts.',
    run: ({ desk }) => desk.status(),
  }),
  operation({
    method: 'GET',
    path: '/api/doctor',
    summary: 'The live path of every agent and binding, gate by gate.',
    query: DoctorQuery as z.ZodType<z.infer<typeof DoctorQuery>>,
    run: ({ desk, query }) =>
      query.security === 'true'
        ? desk.doctor({ security: true, ...(query.send_test === 'true' ? { sendTest: true } : {}) })
        : desk.doctor(),
  }),
  operation({
    method: 'GET',
    path: '/api/config',
    summary: 'The configuration in force, masked; and the file that was refused, with its problems.',
    run: ({ desk }) => desk.config(),
  }),
  operation({
    method: 'POST',
    path: '/api/config/check',
    summary: 'Checks a text of a configuration that is not written yet; it changes nothing.',
    body: CheckBody,
    run: ({ desk, body }) => desk.checkConfig(body.text),
  }),
  operation({
    method: 'POST',
    path: '/api/reload',
    summary: 'Reads the configuration again; an invalid one changes nothing.',
    run: ({ desk, by }) => desk.reload(by),
  }),
]
