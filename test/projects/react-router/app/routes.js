import { route } from '@react-router/dev/routes';

export default [route('webhooks', 'webhooks.js'), route('parsed', 'parsed.js')];
