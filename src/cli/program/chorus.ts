// Names and options of the commands about agents that are reached by a protocol of their own.
import type { Command } from 'commander'
import { type Action, addGroup } from './group.ts'

export function addChorusCommands(program: Command, action: Action): void {
  const list = action(() => import('../commands/sending/chorus.ts').then((m) => m.listConnections))
  const chorus = addGroup(program, 'chorus', 'connection strings of Chorus, and a check of others', list)
  chorus.command('list').description('list them, never the strings themselves (the default)').action(list)
  chorus
    .command('connect')
    .argument('<id>')
    .description('mint a connection string for a chorus integration; it is shown this once')
    .action(action(() => import('../commands/sending/chorus.ts').then((m) => m.connect)))
  chorus
    .command('rotate')
    .argument('<id>')
    .description('mint a new one; the older ones stop working at once')
    .action(action(() => import('../commands/sending/chorus.ts').then((m) => m.rotate)))
  chorus
    .command('verify')
    .argument('<url>')
    .description('test an agent by its connection string (or a service by a callback URL) and say what holds')
    .option('--service', 'the URL is a callback of a service')
    .option('--callback <base>', 'where the agent reaches this machine (default: http://127.0.0.1:PORT)')
    .option('--listen <port>', 'where callbacks are listened for on 127.0.0.1 (default: any free port)')
    .option('--allow-private', 'the agent is on this machine or network')
    .option('--wait <seconds>', 'how long to wait for callbacks (default: 30)')
    .action(action(() => import('../commands/sending/chorus.ts').then((m) => m.verify)))

  const agents = action(() => import('../commands/setup/agents.ts').then((m) => m.listAgents))
  const group = addGroup(program, 'agents', 'the agents and how they are reached', agents)
  group.command('list').description('list them (the default)').action(agents)
  group
    .command('try')
    .argument('<id>')
    .argument('<text...>')
    .description('say something to an agent as the operator, and print its answer')
    .option('--wait <seconds>', 'how long to wait for it (default: 60)')
    .action(action(() => import('../commands/setup/agents-try.ts').then((m) => m.tryAgent)))
  group
    .command('add')
    .argument('<id>')
    .argument('[flags...]', 'an answer to each question of its connector, e.g. --model NAME')
    .usage('ID --connector TYPE [--FLAG VALUE …] [options]')
    .description('ask what its connector asks, try it, and print its lines for switchboard.yaml')
    .allowUnknownOption()
    .option('--http <url>', 'the URL of an agent that takes a JSON POST: tried, and signed for')
    .option('--mode <mode>', 'with --http: answer (in the response, the default) or later')
    .option('--secret-file <file>', 'with --http: the whsec_… that it verifies with already')
    .option('--chorus <url>', 'the connection string of a Chorus agent')
    .option(
      '--connector <type>',
      'how it is reached otherwise: llm (a model behind an API), channel, demo, … or one of modules:',
    )
    .option('--provider <name>', 'llm: anthropic, openai or openai-compatible')
    .option('--model <name>', 'llm: the model, as the API names it')
    .option('--base-url <address>', 'llm: where the API is (Ollama, vLLM, OpenRouter …)')
    .option('--api-key-file <file>', 'llm: where the API key is; else it is asked for, or piped in')
    .option('--command <line>', 'claude-code, acp: the program, for acp with its arguments; it is tried')
    .option('--cwd <folder>', 'claude-code, acp: the folder that it works in')
    .option('--write', 'put the lines into switchboard.yaml instead')
    .option('--bind <platform:integration>', 'where its messages come from (default: web:web)')
    .option('--allow-private', 'it is on this machine or network')
    .action(action(() => import('../commands/setup/agents.ts').then((m) => m.addAgent)))
  group
    .command('set')
    .argument('<id>')
    .argument(
      '<key=value...>',
      'as in switchboard.yaml, with dots: connector.dialect=nexo; key= takes it away',
    )
    .description('change keys of an agent in switchboard.yaml')
    .action(action(() => import('../commands/setup/agents-change.ts').then((m) => m.setAgent)))
  group
    .command('remove')
    .argument('<id>')
    .description('take an agent out of switchboard.yaml')
    .action(action(() => import('../commands/setup/agents-change.ts').then((m) => m.removeAgent)))
}
