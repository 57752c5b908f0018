// The answers to /new, /status, /stop, /back, /human and /help in a chat.

const COUNTS = 'Waiting: {queued}. In work: {running}.'

export const commands = {
  stop: {
    none: 'Nothing is running.',
    one: 'Stopped: 1 message cancelled.',
    many: 'Stopped: {count} messages cancelled.',
    runsOn: ' {agent} cannot be interrupted: what it began may still be answered.',
    noneOfYours: 'Nothing of yours is running. Only an approver can stop the work of others.',
  },
  help: ({ human }: { readonly human: boolean }) =>
    [
      'Everything you write goes to the agent, except these commands:',
      '/status: who answers, and what waits',
      '/new: start a new conversation with your next message',
      '/stop: cancel what is running',
      '/back: leave a thread that this chat was switched to',
      ...(human ? ['/human: ask for a person'] : []),
      '/help: this list',
      'Where / is reserved, write ! instead: !status. Answer a question by its buttons, or with yes ID or no ID.',
    ].join('\n'),
  human: {
    asked: 'A person was asked to join you here. Until then, {agent} answers.',
    before: 'A person was already asked to join you here. Until then, {agent} answers.',
    held: 'You are talking to a person: this conversation is held by {name}.',
  },
  newRefused: 'In a group, only an approver can start a new conversation.',
  newStarted: 'Your next message starts a new conversation.',
  status: {
    attached: `{agent} is online. ${COUNTS}`,
    offline: `{agent} is offline; messages wait in order. ${COUNTS}`,
    thread: ' This chat is in the {label} thread; /back leaves it.',
  },
  back: {
    left: 'Back in your own chat; the {label} thread is closed.',
    home: 'You are in your own chat.',
  },
}
