package refstack.core;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.RecordComponent;
import java.util.Arrays;
import java.util.List;

/**
 * The components of a record class in their order, so that a protocol can walk over a value
 * without naming each field again. Found by reflection once; reading is one method call a field.
 */
public final class RecordFields {

    private final List<Field> fields;

    private RecordFields(List<Field> fields) {
        this.fields = fields;
    }

    /** The fields of {@code type}. */
    public static RecordFields of(Class<? extends Record> type) {
        return new RecordFields(Arrays.stream(type.getRecordComponents()).map(Field::of).toList());
    }

    /** The fields in the order of their declaration. */
    public List<Field> all() {
        return fields;
    }

    /** The names of the fields in the order of their declaration. */
    public List<String> names() {
        return fields.stream().map(Field::name).toList();
    }

    /** One component: its name, its type and how it is read. */
    public record Field(String name, Class<?> type, Method accessor) {

        private static Field of(RecordComponent component) {
            Method accessor = component.getAccessor();
            // A record that is private to its package has accessors that are not.
            accessor.setAccessible(true);
            return new Field(component.getName(), component.getType(), accessor);
        }

        /** The value of this field in {@code owner}. */
        public Object read(Record owner) {
            try {
                return accessor.invoke(owner);
            } catch (IllegalAccessException | InvocationTargetException e) {
                throw new IllegalStateException("cannot read " + accessor, e);
            }
        }
    }
}
