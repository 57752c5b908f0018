// The module of the connector `chorus`: what Switchboard knows before it runs one.
import { type ConnectorModule, SwitchboardError } from '../../contract/index.ts'
import { chorusOptions } from './config.ts'

export const chorusModule: ConnectorModule = {
  name: 'chorus',
  options: chorusOptions,
  docs: 'docs/agents/chorus.md',
  title: 'A Chorus agent',
  callsBack: true,
  setup: {
    questions: [
      {
        key: 'url',
        flag: 'url',
        ask: 'connection string of the agent',
        secret: true,
        called: 'connection_string',
      },
    ],
    complete({ url }) {
      // It may also be a reference, which only the daemon can read.
      if (typeof url === 'string' && !/^(?:https?:\/\/\S+|(?:env|file|secret):.+)$/.test(url))
        throw new SwitchboardError('input_invalid', 'that is no connection string of Chorus', {
          hint: 'it is what the agent shows to be pasted, and begins with https://',
        })
      return {}
    },
  },
  create: async (deps) => (await import('./index.ts')).createChorusAgent(deps),
}
