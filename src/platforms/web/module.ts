// The module of the platform `web`: what Switchboard knows before it runs one.
import { z } from 'zod'
import { type PlatformModule, WEB_OWNER } from '../../contract/index.ts'

export const webModule: PlatformModule = {
  name: 'web',
  options: z.strictObject({}).describe('The chat page of this server.'),
  docs: 'docs/platforms/web.md',
  title: 'A chat page in the browser',
  first: true,
  // The holder of the page's token is the owner. Pairing could not name one.
  defaultAccess: { dm: 'credential', approvers: [WEB_OWNER] },
  setup: { questions: [], url: ({ base }) => `${base}/chat` },
  create: async (deps) => (await import('./index.ts')).createWebPlatform(deps),
}
