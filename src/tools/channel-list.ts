// channel_list: the channel servers of the agent's present binding.
import { z } from 'zod'
import { defineTool } from './tool.ts'

export const channelList = defineTool({
  name: 'channel_list',
  title: 'List channel servers',
  description:
    'List the channel servers that are registered for where you work now. They are sent to with channel_send.',
  readOnly: true,
  alwaysLoad: false,
  maxResultChars: 16_384,
  action: 'message.send',
  needs: 'channels',
  input: z.object({}),
  run: (actions, caller) => actions.channelList(caller),
})
