drop table if exists connector_message;

create table connector_message (
  id        text primary key,
  way       text not null,
  bytes     int  not null,
  stored_at timestamptz not null default clock_timestamp()
);
