// The gateway as a whole: its state, what is wrong with it, its configuration.
import { z } from 'zod'
import type { StatusReport } from '../contract/index.ts'
import { statusReport } from '../health/status.ts'
import { liveParts } from './context.ts'
import { flag } from './inputs.ts'
import { operation } from './operation.ts'

const DoctorQuery = z.strictObject({
  security: flag.describe('Also what is open, and how bad that is.'),
  send_test: flag.describe(
    'With security: integrations also try on the real thing whether a forger would be believed.',
  ),
})
const CheckBody = z.strictObject({ text: z.string().max(1_000_000) })

export const GATEWAY = [
  operation({
    route: 'GET /api/status',
    summary: 'The state of the gateway: links, agents, counts.',
    run: async (call): Promise<StatusReport> => {
      const { store, settings, clock, standing, live } = call
      const source = { store, settings, clock, standing }
      if (live === null) return statusReport(source)
      const report = await statusReport({ ...source, gateway: live.gateway })
      return { ...report, problems: (await live.doctor()).problems }
    },
  }),
  operation({
    route: 'GET /api/doctor',
    summary: 'The live path of every agent and binding, gate by gate.',
    query: DoctorQuery,
    run: (call) => {
      const { security, send_test } = call.query
      return liveParts(call).doctor({
        security: security === 'true',
        sendTest: security === 'true' && send_test === 'true',
      })
    },
  }),
  operation({
    route: 'GET /api/config',
    summary: 'The configuration in force, masked; and the file that was refused, with its problems.',
    run: (call) => liveParts(call).configViews.inForce(),
  }),
  operation({
    route: 'POST /api/config/check',
    summary: 'Checks a text of a configuration that is not written yet; it changes nothing.',
    body: CheckBody,
    run: (call) => liveParts(call).configViews.check(call.body.text),
  }),
  operation({
    route: 'POST /api/reload',
    summary: 'Reads the configuration again; an invalid one changes nothing.',
    run: (call) => liveParts(call).reload(call.by),
  }),
]
