// The module of the platform `chorus`: what Switchboard knows before it runs one.
import type { PlatformModule } from '../../contract/index.ts'
import { chorusOptions } from './config.ts'

export const chorusModule: PlatformModule = {
  name: 'chorus',
  options: chorusOptions,
  docs: 'docs/platforms/chorus.md',
  title: 'A Chorus service',
  // The connection string is the credential.
  defaultAccess: { dm: 'credential' },
  setup: {
    questions: [],
    paste: ({ id }) => [`the connection string, shown once: switchboard chorus connect ${id}`],
  },
  create: async (deps) => (await import('./index.ts')).createChorus(deps),
}
